#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/quantizer/cuda/decoded.hpp"
#include "kernels/quantizer/group_factor.hpp"

/// Single elements and constants of rotated groups, and what is scaled by powers of two.
namespace fewbit::kernels::cuda {

/// To nearest, of doubles as well.
template <ElementType kType>
FEWBIT_HD inline float load_float(const void* from, int64_t i) {
  if constexpr (kType == ElementType::f64) {
    return static_cast<float>(static_cast<const double*>(from)[i]);
  } else {
    return load_element<kType>(from, i);
  }
}

template <ElementType kType>
FEWBIT_HD inline double load_wide(const void* from, int64_t i) {
  if constexpr (kType == ElementType::f64) {
    return static_cast<const double*>(from)[i];
  } else {
    return static_cast<double>(load_element<kType>(from, i));
  }
}

/// What has no exponent, below and above all that have one.
inline constexpr int kOfZero = -2000;
inline constexpr int kOfNotFinite = 2000;

/// The exponent of the greatest power of two that is not above |x|.
FEWBIT_HD inline int exponent_of(double x) {
  uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  if (exponent == 0x7FF) return kOfNotFinite;
  if (exponent != 0) return exponent - 1023;
  const double normal = x * 0x1p54;
  std::memcpy(&bits, &normal, sizeof bits);
  return (bits << 1) == 0 ? kOfZero : static_cast<int>(bits >> 52 & 0x7FF) - 1023 - 54;
}

/// 2^exponent of a normal double.
FEWBIT_HD inline double power_of_two(int exponent) {
  const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
  double power = 0.0;
  std::memcpy(&power, &bits, sizeof power);
  return power;
}

/// x times 2^exponent, |exponent| below 2000: as ldexp where the result is a float or x was one.
FEWBIT_HD inline double times_power(double x, int exponent) {
  return x * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2);
}

/// Rounded to bf16 and back.
FEWBIT_HD inline float rounded_to_bf16(float x) {
  float low = 0.0f;
  float high = 0.0f;
  widen<ElementType::bf16>(narrow<ElementType::bf16>(x, 0.0f), low, high);
  return low;
}

/// To bf16, and not to an infinity.
FEWBIT_HD inline uint16_t finite_bf16(float x) {
  if (std::isnan(x)) return 0x7FC0;
  const auto rounded = static_cast<uint16_t>(narrow<ElementType::bf16>(x, 0.0f));
  if ((rounded & 0x7FFF) != 0x7F80) return rounded;
  return static_cast<uint16_t>(0x7F7F | (rounded & 0x8000));
}

/// Mean and factor times 2^exponent, which is 0 unless doubles store them.
struct KeptGroup {
  float mean;
  float factor;
  int exponent;
};

/// `word`: the random one by which the factor is rounded.
template <ElementType kType>
FEWBIT_HD inline void store_kept(const KeptGroup& kept, uint32_t word, void* constants,
                                 int64_t group) {
  const bool is_plain = kept.exponent == 0;
  const double wide_mean = static_cast<double>(kept.mean);
  const double wide_factor = static_cast<double>(kept.factor);
  const double mean = is_plain ? wide_mean : times_power(wide_mean, kept.exponent);
  const double factor = is_plain ? wide_factor : times_power(wide_factor, kept.exponent);
  if constexpr (kType == ElementType::f64) {
    auto* const to = static_cast<double*>(constants) + 2 * group;
    to[0] = std::isnan(kept.mean) ? quiet_nan<double>() : mean;
    to[1] = factor;
  } else {
    auto* const to = static_cast<uint16_t*>(constants) + 2 * group;
    to[0] = finite_bf16(static_cast<float>(mean));
    to[1] = factor_at_random(static_cast<float>(factor), word);
  }
}

template <ElementType kType>
FEWBIT_HD inline KeptGroup load_kept(const void* constants, int64_t group) {
  if constexpr (kType == ElementType::f64) {
    const auto* const from = static_cast<const double*>(constants) + 2 * group;
    const double greatest = std::fmax(std::fabs(from[0]), std::fabs(from[1]));
    const bool is_plain = !(greatest < 0x1p-60 || greatest > 0x1p60) || greatest == 0.0;
    const int exponent = is_plain ? 0 : exponent_of(greatest);
    if (exponent == 0) return {static_cast<float>(from[0]), static_cast<float>(from[1]), 0};
    return {static_cast<float>(times_power(from[0], -exponent)),
            static_cast<float>(times_power(from[1], -exponent)), exponent};
  } else {
    const auto* const from = static_cast<const uint16_t*>(constants) + 2 * group;
    return {float_of(uint32_t{from[0]} << 16), kept_factor(from[1]), 0};
  }
}

/// x times 2^exponent, which only doubles have.
template <ElementType kType>
FEWBIT_HD inline void store_decoded(void* to, int64_t i, float x, int exponent) {
  if constexpr (kType == ElementType::f64) {
    const double wide = std::isnan(x) ? quiet_nan<double>() : static_cast<double>(x);
    store_finite(to, i, exponent == 0 ? wide : times_power(wide, exponent));
  } else {
    store_clamped<kType>(to, i, x);
  }
}

}  // namespace fewbit::kernels::cuda
