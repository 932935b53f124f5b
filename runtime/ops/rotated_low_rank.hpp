#pragma once

#include <tuple>

#include <ATen/core/Tensor.h>

#include "kernels/quantizer/low_rank.hpp"
#include "ops/rotated.hpp"

/// rotated_encode and rotated_decode (ops/rotated.hpp) of what is left of elements once the part of
/// them is taken off that lies in a few directions of channels (kernels/quantizer/low_rank.hpp), as
/// operations of library `fewbit`:
///
///   low_rank_project(Tensor x, Tensor basis, int channels, int inner) -> Tensor
///   rotated_low_rank_encode(Tensor x, Tensor coefficients, Tensor basis, int channels, int inner,
///                           int bits, int group, int states, Tensor seed, int offset)
///       -> (Tensor codes, Tensor constants)
///   rotated_low_rank_decode(Tensor codes, Tensor constants, SymInt count, Tensor coefficients,
///                           Tensor basis, int channels, int inner, int begin, int bits, int group,
///                           int states, ScalarType dtype, Tensor seed, int offset, SymInt first=0)
///       -> Tensor
///
/// x: float, bfloat16 or half, contiguous, its elements [outer, channels, inner]. basis:
/// float8_e4m3fn [k, channels rounded up to a multiple of 16], 1 <= k <= 16, 256 times what the
/// directions are, zeros behind the channels. coefficients: float [outer, k, inner]. begin: the
/// element of the coefficients' blocks that the part begins with. Nothing here is differentiable or
/// waits for a device.
///
/// Throws c10::Error naming operation and argument for others.
namespace fewbit::ops {

using kernels::ChannelPlace;
using kernels::kMostDirections;

/// What lies in directions of channels.
struct LowRank {
  at::Tensor basis;
  at::Tensor coefficients;
  ChannelPlace place;
  int64_t begin = 0;
};

/// Channels rounded up as a basis has them.
int64_t basis_stride(int64_t channels);

/// [k, channels] of any real type as a basis: rows of length 1 become others that are nearly so.
/// Elements beyond -1.75 and 1.75 become these.
at::Tensor basis_of(const at::Tensor& directions);

/// Floats [k, channels] that a basis stands for.
at::Tensor directions_of(const at::Tensor& basis, int64_t channels);

/// Coefficients of x, flat, for every place of its channels.
at::Tensor low_rank_project(const at::Tensor& x, const at::Tensor& basis,
                            const ChannelPlace& place);

std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x, const LowRank& low_rank,
                                                  const RotatedCodes& form,
                                                  const RandomStream& random);

/// Within the finite range of dtype.
at::Tensor rotated_decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                          const LowRank& low_rank, const RotatedCodes& form, at::ScalarType dtype,
                          const RandomStream& random, int64_t first = 0);

}  // namespace fewbit::ops
