#pragma once

#include <bit>
#include <cstdint>

#include "kernels/element_type.hpp"

namespace fewbit::kernels {

/// The 16-bit types in integers, the same in every floating-point mode: exact to float, to nearest
/// even from it. A NaN keeps its sign and the upper bits of its payload and becomes quiet, as the
/// processors' instructions do.
inline float float_from_f16(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t rest = half & 0x7FFFu;
  uint32_t bits = (rest << 13) + 0x38000000u;  // the exponent is 112 more
  if (rest < 0x400u) {
    // A subnormal is a whole number of 2^-24; its highest one becomes the implicit one.
    const auto place = static_cast<uint32_t>(std::bit_width(rest)) - 1;
    bits = rest == 0 ? 0 : ((place + 102) << 23) + (rest << (23 - place));
  } else if (rest >= 0x7C00u) {
    const uint32_t quiet = rest > 0x7C00u ? 0x400000u : 0u;
    bits = 0x7F800000u | (rest & 0x3FFu) << 13 | quiet;
  }
  return std::bit_cast<float>(sign | bits);
}

inline uint16_t f16_from_float(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t rest = bits & 0x7FFFFFFFu;
  if (rest > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u | (rest >> 13 & 0x3FFu));
  if (rest >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);
  if (rest < 0x38800000u) {
    // Below 2^-14: a whole number of 2^-24, of which 2^-25 and less is none.
    const uint32_t shift = 126 - (rest >> 23);
    if (shift > 24) return static_cast<uint16_t>(sign);
    const uint32_t significand = (rest & 0x7FFFFFu) | 0x800000u;
    const uint32_t to_nearest = (1u << (shift - 1)) - 1 + (significand >> shift & 1u);
    return static_cast<uint16_t>(sign | (significand + to_nearest) >> shift);
  }
  const uint32_t rounded = rest - 0x38000000u + 0xFFFu + (rest >> 13 & 1u);
  return static_cast<uint16_t>(sign | rounded >> 13);
}

inline float float_from_bf16(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

inline uint16_t bf16_from_float(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
  const bool is_nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  return static_cast<uint16_t>((is_nan ? bits | 0x400000u : rounded) >> 16);
}

/// The same for the 16-bit type that `type` names, bf16 or f16.
inline float float_from_half(ElementType type, uint16_t half) {
  return type == ElementType::bf16 ? float_from_bf16(half) : float_from_f16(half);
}

inline uint16_t half_from_float(ElementType type, float x) {
  return type == ElementType::bf16 ? bf16_from_float(x) : f16_from_float(x);
}

/// The place of a float among all floats, both zeros at 0; orders them in every floating-point
/// mode.
inline int place_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const int magnitude = static_cast<int>(bits & 0x7FFFFFFFu);
  return bits >> 31 != 0 ? -magnitude : magnitude;
}

/// The float at a place.
inline float float_at(int place) {
  const uint32_t sign = place < 0 ? 0x80000000u : 0u;
  return std::bit_cast<float>(sign | static_cast<uint32_t>(place < 0 ? -place : place));
}

/// The smallest float not below x: compares with a float threshold as x does.
inline float float_not_below(double x) {
  const float nearest = static_cast<float>(x);
  if (!(static_cast<double>(nearest) < x)) return nearest;  // also NaN
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if ((bits & 0x7FFFFFFFu) == 0) return 0x1p-149f;
  return std::bit_cast<float>(nearest > 0.0f ? bits + 1 : bits - 1);
}

}  // namespace fewbit::kernels
