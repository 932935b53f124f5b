#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/stream/cuda/vector.hpp"

/// Decoded values at the ends of their type. What a NaN looks like is said here: conversions on a
/// device give another one than a processor's.
namespace fewbit::kernels::cuda {

FEWBIT_HD inline bool is_finite(float x) {
  return (bits_of(x) & 0x7FFFFFFFu) < 0x7F800000u;
}

template <class Real>
FEWBIT_HD constexpr Real quiet_nan() {
  return std::numeric_limits<Real>::quiet_NaN();
}

/// The lesser and the greater, NaN where one is.
FEWBIT_HD inline float min_or_nan(float a, float b) {
#if defined(__CUDA_ARCH__)
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
#else
  return a < b || std::isnan(a) ? a : b;
#endif
}

FEWBIT_HD inline float max_or_nan(float a, float b) {
#if defined(__CUDA_ARCH__)
  float greatest;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(greatest) : "f"(a), "f"(b));
  return greatest;
#else
  return a > b || std::isnan(a) ? a : b;
#endif
}

template <ElementType kType>
FEWBIT_HD inline float clamped(float x) {
  constexpr float kLimit = finite_limit(kType);
  return max_or_nan(-kLimit, min_or_nan(kLimit, x));
}

/// What is clamped already.
template <ElementType kType>
FEWBIT_HD inline void store_clamped(void* to, int64_t i, float x) {
  const bool is_nan = std::isnan(x);
  if constexpr (kType == ElementType::f32) {
    static_cast<float*>(to)[i] = is_nan ? quiet_nan<float>() : x;
  } else if (is_nan) {
    static_cast<uint16_t*>(to)[i] = kType == ElementType::bf16 ? 0x7FC0 : 0x7E00;
  } else {
    store_element<kType>(to, i, x);
  }
}

/// The double, or the nearest that is finite.
FEWBIT_HD inline void store_finite(void* to, int64_t i, double x) {
  constexpr double kMost = std::numeric_limits<double>::max();
  static_cast<double*>(to)[i] = x > kMost ? kMost : x < -kMost ? -kMost : x;
}

}  // namespace fewbit::kernels::cuda
