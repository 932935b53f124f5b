#pragma once

#include <bit>
#include <cstdint>

#include "kernels/host_device.hpp"

/// How the factor of a rotated group is stored in 16 bits, so that its mean over the draws is the
/// factor. For every device.
namespace fewbit::kernels {

/// A random word for a group out of the first two words of its signs. All of the group's signs
/// decide what is rounded, so these two words mixed are as good as a draw of their own.
FEWBIT_HD constexpr uint32_t word_of_signs(uint32_t first, uint32_t second) {
  uint32_t word = first ^ (second >> 16 | second << 16);
  word = (word ^ word >> 16) * 0x7FEB352Du;
  return (word ^ word >> 15) * 0x846CA68Bu;
}

/// x, which is finite and not negative, as one of the two numbers around it of 8 bits behind the
/// point: the greater with the probability that makes the mean x. Stored as a bf16 whose sign is
/// the last of these bits, since factors have none. Finite.
FEWBIT_HD inline uint16_t factor_at_random(float x, uint32_t word) {
  constexpr uint32_t kGreatest = 0xFEFFu;
  const uint32_t rounded = (std::bit_cast<uint32_t>(x) + (word >> 17)) >> 15;
  const uint32_t kept = rounded < kGreatest ? rounded : kGreatest;
  return static_cast<uint16_t>(kept >> 1 | (kept & 1u) << 15);
}

FEWBIT_HD inline float kept_factor(uint16_t kept) {
  return std::bit_cast<float>((uint32_t{kept} & 0x7FFFu) << 16 | uint32_t{kept} >> 15 << 15);
}

}  // namespace fewbit::kernels
