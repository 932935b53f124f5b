#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/stream/cuda/host_device.hpp"
#if !defined(__CUDA_ARCH__)
#include "kernels/half.hpp"
#endif

/// Elements as threads load, compute and store them.
namespace fewbit::kernels::cuda {

/// Sixteen bytes of neighbouring elements, the first in the lowest bits.
struct alignas(16) Vector {
  uint32_t word[4];
};

template <ElementType kType>
inline constexpr int kPerVector = 16 / static_cast<int>(element_bytes(kType));

/// Vectors of a lane's share of a tile.
template <ElementType kType>
inline constexpr int kVectors = kPerLane / kPerVector<kType>;

FEWBIT_HD inline float float_of(uint32_t bits) {
  float x = 0.0f;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

FEWBIT_HD inline uint32_t bits_of(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// The two elements of a word of a 16-bit type.
template <ElementType kType>
FEWBIT_HD inline void widen(uint32_t pair, float& low, float& high) {
  if constexpr (kType == ElementType::bf16) {
    low = float_of(pair << 16);
    high = float_of(pair & 0xFFFF0000u);
  } else {
#if defined(__CUDA_ARCH__)
    asm("{.reg .f16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
        : "=f"(low), "=f"(high)
        : "r"(pair));
#else
    low = float_from_f16(static_cast<uint16_t>(pair));
    high = float_from_f16(static_cast<uint16_t>(pair >> 16));
#endif
  }
}

/// Both rounded to nearest even.
template <ElementType kType>
FEWBIT_HD inline uint32_t narrow(float low, float high) {
#if defined(__CUDA_ARCH__)
  uint32_t pair;
  if constexpr (kType == ElementType::bf16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  }
  return pair;
#else
  const uint32_t upper = half_from_float(kType, high);
  return upper << 16 | half_from_float(kType, low);
#endif
}

template <ElementType kType>
FEWBIT_HD inline void widen(const Vector& v, float (&x)[kPerVector<kType>]) {
  for (int i = 0; i < 4; ++i) {
    if constexpr (kType == ElementType::f32) {
      x[i] = float_of(v.word[i]);
    } else {
      widen<kType>(v.word[i], x[2 * i], x[2 * i + 1]);
    }
  }
}

template <ElementType kType>
FEWBIT_HD inline Vector narrow(const float (&x)[kPerVector<kType>]) {
  Vector v;
  for (int i = 0; i < 4; ++i) {
    if constexpr (kType == ElementType::f32) {
      v.word[i] = bits_of(x[i]);
    } else {
      v.word[i] = narrow<kType>(x[2 * i], x[2 * i + 1]);
    }
  }
  return v;
}

/// Element i of an array of any alignment that the type allows, as a float; of a double the
/// smallest that is not below it.
template <ElementType kType>
FEWBIT_HD inline float load_element(const void* from, int64_t i) {
  if constexpr (kType == ElementType::f64) {
    const double wide = static_cast<const double*>(from)[i];
    const float nearest = static_cast<float>(wide);
    if (!(static_cast<double>(nearest) < wide)) return nearest;
    // The next float above.
    const uint32_t bits = bits_of(nearest);
    if ((bits & 0x7FFFFFFFu) == 0) return 0x1p-149f;
    return float_of(nearest > 0.0f ? bits + 1 : bits - 1);
  } else if constexpr (kType == ElementType::f32) {
    return static_cast<const float*>(from)[i];
  } else {
    float low = 0.0f;
    float high = 0.0f;
    widen<kType>(static_cast<const uint16_t*>(from)[i], low, high);
    return low;
  }
}

/// The same as it is compared with thresholds.
template <ElementType kType>
FEWBIT_HD inline auto load_compared(const void* from, int64_t i) {
  if constexpr (kType == ElementType::f64) {
    return static_cast<const double*>(from)[i];
  } else {
    return load_element<kType>(from, i);
  }
}

template <ElementType kType>
FEWBIT_HD inline void store_element(void* to, int64_t i, float x) {
  if constexpr (kType == ElementType::f32) {
    static_cast<float*>(to)[i] = x;
  } else {
    static_cast<uint16_t*>(to)[i] = static_cast<uint16_t>(narrow<kType>(x, 0.0f));
  }
}

}  // namespace fewbit::kernels::cuda
