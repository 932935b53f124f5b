#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/host_device.hpp"

/// The constants of a group and what they make of its elements, operation by operation as group.hpp
/// says, in float for all types but fp64. For every device; vectors of a CPU do the same.
namespace fewbit::kernels {

/// Fractional bits of t and u.
inline constexpr int kFractionBits = 23;

/// What is stored of a group. Both NaN: all of its elements are.
template <class Real>
struct GroupConstants {
  Real minimum;
  Real half_range;
};

template <class Real>
FEWBIT_HD constexpr GroupConstants<Real> not_a_number() {
  return {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::quiet_NaN()};
}

/// The double after x, which is finite.
FEWBIT_HD inline double next_above(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  return std::bit_cast<double>(x > 0.0 ? bits + 1 : x < 0.0 ? bits - 1 : 1);
}

/// The least double not below a - b, which is not negative. No overflow.
FEWBIT_HD inline double difference_not_below(double a, double b) {
  const double difference = a - b;
  const double taken = a - difference;
  const double rest = (a - (difference + taken)) + (taken - b);  // exact: Knuth's two-sum
  return rest > 0.0 ? next_above(difference) : difference;
}

/// The largest bf16 not above x, but finite.
FEWBIT_HD inline float bf16_not_above(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t upper = bits & 0xFFFF0000u;
  if (upper == bits || bits >> 31 == 0) return std::bit_cast<float>(upper);
  return std::bit_cast<float>(upper == 0xFF7F0000u ? upper : upper + 0x10000u);
}

/// The least bf16 not below x, but finite; x is not negative.
FEWBIT_HD inline float bf16_not_below(double x) {
  const float nearest = static_cast<float>(x);
  const uint32_t bits =
      std::bit_cast<uint32_t>(nearest) + (static_cast<double>(nearest) < x ? 1 : 0);
  const uint32_t upper = (bits + 0xFFFFu) & 0xFFFF0000u;
  return std::bit_cast<float>(upper > 0x7F7F0000u ? 0x7F7F0000u : upper);
}

/// What is stored of a group with these extremes, which are finite. Adding 0 makes -0 one with 0.
FEWBIT_HD inline GroupConstants<float> constants_of(float minimum, float maximum) {
  const float kept = bf16_not_above(minimum + 0.0f);
  const double range =
      difference_not_below(static_cast<double>(maximum), static_cast<double>(kept));
  return {kept, range > 0.0 ? bf16_not_below(0.5 * range) : 0.0f};
}

/// The least double not below x / 2, which need not be one where x is subnormal.
FEWBIT_HD inline double half_not_below(double x) {
  const double half = 0.5 * x;
  return 2.0 * half < x ? next_above(half) : half;
}

FEWBIT_HD inline GroupConstants<double> constants_of(double minimum, double maximum) {
  const double kept = minimum + 0.0;
  const double range = difference_not_below(maximum, kept);
  if (range < 0x1p1023) return {kept, half_not_below(range)};
  return {kept, difference_not_below(half_not_below(maximum), -half_not_below(-kept))};
}

/// A power of two by which a group is scaled, so that neither the range overflows nor the number of
/// steps in it.
FEWBIT_HD inline float scale_of(float half_range) {
  return half_range >= 0x1p100f ? 0x1p-2f : half_range < 0x1p-60f ? 0x1p100f : 1.0f;
}

FEWBIT_HD inline double scale_of(double half_range) {
  return half_range >= 0x1p1000 ? 0x1p-2 : half_range < 0x1p-500 ? 0x1p800 : 1.0;
}

FEWBIT_HD inline int32_t to_nearest(float t) {
#if defined(__CUDA_ARCH__)
  return __float2int_rn(t);
#else
  return static_cast<int32_t>(std::nearbyint(t));
#endif
}

FEWBIT_HD inline int32_t to_nearest(double t) {
#if defined(__CUDA_ARCH__)
  return __double2int_rn(t);
#else
  return static_cast<int32_t>(std::nearbyint(t));
#endif
}

/// t in units of 2^-kFractionBits, between levels at squares.
template <class Real>
FEWBIT_HD int32_t place_of_squares(Real t, Real largest) {
  constexpr Real kUnits = 1 << kFractionBits;
  const Real w = t * (1 / kUnits) * (largest * (1 / kUnits));
  const Real whole = std::floor(std::sqrt(w));
  const Real part = (w - whole * whole) / (whole + whole + 1);
  return (static_cast<int32_t>(whole) << kFractionBits) + to_nearest(part * kUnits);
}

/// t = (x * scale - minimum) * per_unit, in units of 2^-kFractionBits and clamped to [0, largest].
template <class Real>
struct GroupEncoding {
  Real scale = 1;
  Real minimum = 0;
  Real per_unit = 0;
  Real largest;

  FEWBIT_HD GroupEncoding(const GroupConstants<Real>& of, int bits)
      : largest(static_cast<Real>((1 << bits) - 1) * Real{1 << kFractionBits}) {
    if (!(of.half_range > 0)) return;  // one value: all of its codes are 0
    scale = scale_of(of.half_range);
    minimum = of.minimum * scale;
    per_unit = largest / (2 * (of.half_range * scale));
  }

  /// The code of a finite element, u in units of t's.
  template <bool kSquares>
  FEWBIT_HD uint32_t code(Real x, int32_t addend) const {
    const Real t = (x * scale - minimum) * per_unit;
    const Real inside = std::fmin(std::fmax(t, Real{0}), largest);
    const int32_t place = kSquares ? place_of_squares(inside, largest) : to_nearest(inside);
    return static_cast<uint32_t>(place + addend) >> kFractionBits;
  }
};

/// x' = (minimum + (q + d) * step) * unscale; of squares (minimum + q^2 * step) * unscale
template <class Real>
struct GroupDecoding {
  Real minimum;
  Real step;
  Real unscale;

  FEWBIT_HD GroupDecoding(const GroupConstants<Real>& of, int bits, bool squares) {
    // Without a range nothing says how large the minimum is.
    const Real scale = of.half_range > 0 ? scale_of(of.half_range) : Real{1};
    minimum = of.minimum * scale;
    const auto largest = static_cast<Real>((1 << bits) - 1);
    step = 2 * (of.half_range * scale) / largest;
    if (squares) step /= largest;
    unscale = 1 / scale;
  }

  FEWBIT_HD Real value(Real code) const { return (minimum + code * step) * unscale; }
};

/// u in units of 2^-kFractionBits: of an element's random word, and to nearest.
FEWBIT_HD constexpr int32_t addend_of(uint32_t word) {
  return static_cast<int32_t>(word >> (32 - kFractionBits));
}
inline constexpr int32_t kHalf = 1 << (kFractionBits - 1);

/// d of an element's random word in units of kDitherUnit: the middle of what the word stands for.
FEWBIT_HD constexpr int32_t dither_of(uint32_t word) {
  return (1 << kFractionBits) - 1 - 2 * addend_of(word);
}
inline constexpr float kDitherUnit = 0x1p-24f;

}  // namespace fewbit::kernels
