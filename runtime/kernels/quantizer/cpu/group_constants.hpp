#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/half.hpp"
#include "kernels/quantizer/group.hpp"

/// The constants of a group, in float for all types but fp64. Plain arithmetic, no instruction set.
namespace fewbit::kernels {

/// Fractional bits of t and u.
inline constexpr int kFractionBits = 23;

/// What is kept of a group. Both NaN: all of its elements are.
template <class Real>
struct GroupConstants {
  Real minimum;
  Real half_range;
};

template <class Real>
constexpr GroupConstants<Real> not_a_number() {
  return {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::quiet_NaN()};
}

/// The least double not below a - b. No overflow.
inline double difference_not_below(double a, double b) {
  const double difference = a - b;
  const double taken = a - difference;
  const double rest = (a - (difference + taken)) + (taken - b);  // exact: Knuth's two-sum
  return rest > 0.0 ? std::nextafter(difference, INFINITY) : difference;
}

/// The largest bf16 not above x, but finite.
inline float bf16_not_above(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t upper = bits & 0xFFFF0000u;
  if (upper == bits || bits >> 31 == 0) return std::bit_cast<float>(upper);
  return std::bit_cast<float>(upper == 0xFF7F0000u ? upper : upper + 0x10000u);
}

/// The least bf16 not below x, but finite; x is not negative.
inline float bf16_not_below(double x) {
  const auto bits = std::bit_cast<uint32_t>(float_not_below(x));
  const uint32_t upper = (bits + 0xFFFFu) & 0xFFFF0000u;
  return std::bit_cast<float>(upper > 0x7F7F0000u ? 0x7F7F0000u : upper);
}

/// What is kept of a group with these extremes, which are finite. Adding 0 makes -0 one with 0.
inline GroupConstants<float> constants_of(float minimum, float maximum) {
  const float kept = bf16_not_above(minimum + 0.0f);
  const double range =
      difference_not_below(static_cast<double>(maximum), static_cast<double>(kept));
  return {kept, range > 0.0 ? bf16_not_below(0.5 * range) : 0.0f};
}

/// The least double not below x / 2, which need not be one where x is subnormal.
inline double half_not_below(double x) {
  const double half = 0.5 * x;
  return 2.0 * half < x ? std::nextafter(half, INFINITY) : half;
}

inline GroupConstants<double> constants_of(double minimum, double maximum) {
  const double kept = minimum + 0.0;
  const double range = difference_not_below(maximum, kept);
  if (range < 0x1p1023) return {kept, half_not_below(range)};
  return {kept, difference_not_below(half_not_below(maximum), -half_not_below(-kept))};
}

/// A power of two by which a group is scaled, so that neither the range overflows nor the number of
/// steps in it.
inline float scale_of(float half_range) {
  return half_range >= 0x1p100f ? 0x1p-2f : half_range < 0x1p-60f ? 0x1p100f : 1.0f;
}

inline double scale_of(double half_range) {
  return half_range >= 0x1p1000 ? 0x1p-2 : half_range < 0x1p-500 ? 0x1p800 : 1.0;
}

/// The largest code.
constexpr int largest_code(int bits) {
  return (1 << bits) - 1;
}

/// t = (x * scale - minimum) * per_unit, in units of 2^-kFractionBits and clamped to [0, largest].
template <class Real>
struct GroupEncoding {
  Real scale = 1;
  Real minimum = 0;
  Real per_unit = 0;
  Real largest;

  GroupEncoding(const GroupConstants<Real>& of, int bits)
      : largest(static_cast<Real>(largest_code(bits)) * Real{1 << kFractionBits}) {
    if (!(of.half_range > 0)) return;  // one value: all of its codes are 0
    scale = scale_of(of.half_range);
    minimum = of.minimum * scale;
    per_unit = largest / (2 * (of.half_range * scale));
  }
};

/// x' = (minimum + (q + d) * step) * unscale
template <class Real>
struct GroupDecoding {
  Real minimum;
  Real step;
  Real unscale;

  GroupDecoding(const GroupConstants<Real>& of, int bits) {
    // Without a range nothing says how large the minimum is.
    const Real scale = of.half_range > 0 ? scale_of(of.half_range) : Real{1};
    minimum = of.minimum * scale;
    step = 2 * (of.half_range * scale) / static_cast<Real>(largest_code(bits));
    unscale = 1 / scale;
  }
};

inline void store_constants(const GroupConstants<float>& of, void* constants, int64_t group) {
  const uint16_t halves[2] = {bf16_from_float(of.minimum), bf16_from_float(of.half_range)};
  std::memcpy(static_cast<uint8_t*>(constants) + 4 * group, halves, sizeof halves);
}

inline void store_constants(const GroupConstants<double>& of, void* constants, int64_t group) {
  std::memcpy(static_cast<uint8_t*>(constants) + 16 * group, &of, sizeof of);
}

template <class Real>
GroupConstants<Real> load_constants(const void* constants, int64_t group);

template <>
inline GroupConstants<float> load_constants<float>(const void* constants, int64_t group) {
  uint16_t halves[2];
  std::memcpy(halves, static_cast<const uint8_t*>(constants) + 4 * group, sizeof halves);
  return {float_from_bf16(halves[0]), float_from_bf16(halves[1])};
}

template <>
inline GroupConstants<double> load_constants<double>(const void* constants, int64_t group) {
  GroupConstants<double> of;
  std::memcpy(&of, static_cast<const uint8_t*>(constants) + 16 * group, sizeof of);
  return of;
}

}  // namespace fewbit::kernels
