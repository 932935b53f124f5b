#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/quantizer/rotated.hpp"

/// Operations of library `fewbit` that code a tensor in few bits, by kernels/quantizer/rotated.hpp:
///
///   rotated_encode(Tensor x, int bits, int group, int states, Tensor seed, int offset)
///       -> (Tensor codes, Tensor constants)
///   rotated_decode(Tensor codes, Tensor constants, SymInt count, int bits, int group, int states,
///                  ScalarType dtype, Tensor seed, int offset, SymInt first=0) -> Tensor
///   rotated_encode_together(Tensor[] xs, int bits, int group, Tensor seed, int[] offsets,
///                           Tensor(a!)[] codes, Tensor(b!)[] constants) -> ()
///   rotated_decode_together(Tensor[] codes, Tensor[] constants, int[] counts, int bits, int group,
///                           ScalarType dtype, Tensor seed, int[] offsets) -> Tensor[]
///
/// x: float, bfloat16, half or double of any shape, taken in the order of its memory (a copy of it
/// where it is not dense), in groups of 64, 128, 256, 512 or 1024. codes: uint8 [groups * group *
/// bits / 8 rounded up to 16]; constants: [groups, 2] of bfloat16, of double for double (means, and
/// factors as kernels/quantizer/group_factor.hpp stores them in 16 bits). `states` of the trellis
/// that picks the codes of a group together, 4 or 8, of at most 4 bits; 0: each code for itself.
/// Decoded is the flat run of `count` elements. Its signs are those of seed, one int64 on x's
/// device, and offset: the same for both, others for every tensor that is encoded, or their errors
/// go together. first: of a part of a run, the element that it begins with, a multiple of 1,024;
/// codes, constants and count are the part's. Nothing here is differentiable.
///
/// Together: of several tensors of one type and device what the others make of each by its own
/// offset, without a trellis. A GPU codes up to 32 of them in one launch. Codes and constants are
/// written where they are to be. Sizes may differ.
///
/// Throws c10::Error naming operation and argument for other types, devices, bits, groups, lengths.
namespace fewbit::ops {

/// Of the random numbers that encoding and decoding have in common.
struct RandomStream {
  at::Tensor seed;
  int64_t offset;
};

/// Where parts of a run may begin, and end but for its own end: elements between whole groups of
/// any size, and whole words of their codes.
inline constexpr int64_t kPartElements = 1024;

/// The elements of a run that hold [begin, end), as parts are.
struct Part {
  int64_t begin, end;

  Part(int64_t from, int64_t to, int64_t count)
      : begin(from / kPartElements * kPartElements),
        end(std::min((to + kPartElements - 1) / kPartElements * kPartElements, count)) {}

  int64_t count() const { return end - begin; }
  /// Of a stream with so many bits for each element, and of constants for each group.
  at::Tensor of_codes(const at::Tensor& stream, int64_t bits, int64_t all) const;
  at::Tensor of_constants(const at::Tensor& constants, int64_t group) const;
  /// Elements [from, to) of the run, out of the part, which is decoded.
  at::Tensor elements(const at::Tensor& part, int64_t from, int64_t to) const;
};

using kernels::kMostTrellisBits;

struct RotatedCodes {
  int64_t bits;
  int64_t group;
  int64_t states = 0;
};

std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x, const RotatedCodes& form,
                                                  const RandomStream& random);

/// The same on a CPU; has_suspects: whether an element may hold more than an eighth of the energy
/// of its group about the mean (kernels/quantizer/extremes.hpp).
std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x, const RotatedCodes& form,
                                                  const RandomStream& random, bool& has_suspects);

/// Empty ones of x's, as rotated_encode makes them.
std::tuple<at::Tensor, at::Tensor> empty_rotated_of(const at::Tensor& x, const RotatedCodes& form);

void rotated_encode_together(at::TensorList xs, const RotatedCodes& form, const at::Tensor& seed,
                             at::IntArrayRef offsets, at::TensorList codes,
                             at::TensorList constants);

at::Tensor rotated_decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                          const RotatedCodes& form, at::ScalarType dtype,
                          const RandomStream& random, int64_t first = 0);

std::vector<at::Tensor> rotated_decode_together(at::TensorList codes, at::TensorList constants,
                                                at::IntArrayRef counts, const RotatedCodes& form,
                                                at::ScalarType dtype, const at::Tensor& seed,
                                                at::IntArrayRef offsets);

/// The squared error of what is decoded over the energy of Gaussian elements, their mean left out.
/// As an operation rotated_error(int bits, int states=0) -> float.
double rotated_error(const RotatedCodes& form);

}  // namespace fewbit::ops
