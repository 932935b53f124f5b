#pragma once

#include <bit>
#include <cstdint>

#include "kernels/host_device.hpp"

/// How the factor of a rotated group becomes a bf16 whose mean over the draws is the factor. For
/// every device.
namespace fewbit::kernels {

/// What u is multiplied by before it is coded, so that its factor comes out next to a bf16 and
/// rounding takes little: what is `expected` over its bf16. 1 where bf16 is short of digits.
FEWBIT_HD inline float factor_stretch(float expected) {
  if (!(expected >= 0x1p-100f && expected <= 0x1p100f)) return 1.0f;
  const uint32_t bits = std::bit_cast<uint32_t>(expected);
  return expected / std::bit_cast<float>((bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u);
}

/// A random word for a group out of the first two words of its signs. All of the group's signs
/// decide what is rounded, so these two words mixed are as good as a draw of their own.
FEWBIT_HD constexpr uint32_t word_of_signs(uint32_t first, uint32_t second) {
  uint32_t word = first ^ (second >> 16 | second << 16);
  word = (word ^ word >> 16) * 0x7FEB352Du;
  return (word ^ word >> 15) * 0x846CA68Bu;
}

/// One of the two bf16 around x, which is finite: the one further from zero with the probability
/// that makes the mean x. Finite.
FEWBIT_HD inline uint16_t bf16_at_random(float x, uint32_t word) {
  const uint32_t rounded = (std::bit_cast<uint32_t>(x) + (word >> 16)) >> 16;
  const bool is_finite = (rounded & 0x7FFFu) < 0x7F80u;
  return static_cast<uint16_t>(is_finite ? rounded : (rounded & 0x8000u) | 0x7F7Fu);
}

}  // namespace fewbit::kernels
