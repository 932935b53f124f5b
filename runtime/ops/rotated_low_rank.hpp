#pragma once

#include <tuple>

#include <ATen/core/Tensor.h>

#include "kernels/quantizer/low_rank.hpp"
#include "ops/rotated.hpp"

/// Elements in two parts, as operations of library `fewbit`: coefficients of a few directions of
/// channels (kernels/quantizer/low_rank.hpp), and what is left of the elements once what these say
/// as they come back is taken off. Both are coded as by rotated_encode (ops/rotated.hpp).
///
///   rotated_low_rank_encode(Tensor x, Tensor basis, int channels, int inner, int coefficient_bits,
///                           int bits, int group, int states, Tensor seed, int offset)
///       -> (Tensor codes, Tensor constants, Tensor coefficient_codes,
///           Tensor coefficient_constants)
///   rotated_low_rank_decode(Tensor codes, Tensor constants, Tensor coefficient_codes,
///                           Tensor coefficient_constants, Tensor basis, int count, int channels,
///                           int inner, int coefficient_bits, int bits, int group, int states,
///                           ScalarType dtype, Tensor seed, int offset, int begin, int end)
///       -> Tensor
///
/// x: float, bfloat16 or half, contiguous, its elements [outer, channels, inner]. basis:
/// float8_e4m3fn [k, channels rounded up to a multiple of 16], 1 <= k <= 16, 256 times what the
/// directions are, zeros behind the channels. Coefficients, [outer, k, inner], are coded in groups
/// of 256, by random numbers of their own. Of `count` elements those from begin to end, that one
/// left out, come back. Nothing here is differentiable or waits for a device.
///
/// Throws c10::Error naming operation and argument for others.
namespace fewbit::ops {

using kernels::ChannelPlace;
using kernels::kMostDirections;

/// Coefficients share constants with so many.
inline constexpr int64_t kGroupOfCoefficients = 256;

/// How elements are coded beside directions.
struct LowRankForm {
  ChannelPlace place;
  int64_t coefficient_bits;
  RotatedCodes rest;

  RotatedCodes coefficients() const { return {coefficient_bits, kGroupOfCoefficients}; }
};

/// The random numbers of coefficients: were they those of the rest, its error would depend on
/// theirs.
RandomStream for_coefficients(const RandomStream& random);

/// Channels rounded up as a basis has them.
int64_t basis_stride(int64_t channels);

/// [k, channels] of any real type as a basis: rows of length 1 become others that are nearly so.
/// Elements beyond -1.75 and 1.75 become these.
at::Tensor basis_of(const at::Tensor& directions);

/// Floats [k, channels] that a basis stands for.
at::Tensor directions_of(const at::Tensor& basis, int64_t channels);

/// Codes and constants, of the rest and of coefficients.
using LowRankCodes = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

LowRankCodes low_rank_encode(const at::Tensor& x, const at::Tensor& basis, const LowRankForm& form,
                             const RandomStream& random);

/// Within the finite range of dtype.
at::Tensor low_rank_decode(const LowRankCodes& codes, const at::Tensor& basis, int64_t count,
                           const LowRankForm& form, at::ScalarType dtype,
                           const RandomStream& random, int64_t begin, int64_t end);

}  // namespace fewbit::ops
