// Float primitives for host and device. Only +, -, *, / and fused multiply-add are used, so results
// are the same on every machine as long as the compiler does not fuse on its own
// (-ffp-contract=off, nvcc -fmad=false). Bounds are against the real function, all floats, see
// math_test. Namespaces inside have other promises.
//@@ Each section starts with a marker line that names it and the earlier sections it needs.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if !defined(FEWBIT_HD)
#if defined(__CUDACC__)
#define FEWBIT_HD __host__ __device__
#else
#define FEWBIT_HD
#endif
#endif

namespace fewbit::generated::math {

//@ fma
/// a * b + c, rounded once. A host without the instruction rounds an exact product's sum twice,
/// which differs by a last bit about once in 5e8 and is far faster than the library's emulation.
FEWBIT_HD inline float fma(float a, float b, float c) {
#if defined(__CUDA_ARCH__) || defined(__FMA__) || defined(__aarch64__)
  return std::fma(a, b, c);
#else
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) +
                            static_cast<double>(c));
#endif
}

//@ product fma
/// (c + low) * y for a constant in two parts of one sign, so that infinity stays infinity.
FEWBIT_HD inline float product(float c, float low, float y) {
  return fma(c, y, low * y);
}

//@ bits
FEWBIT_HD inline uint32_t to_bits(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

FEWBIT_HD inline float from_bits(uint32_t bits) {
  float x = 0.0f;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// 2^n for -126 <= n <= 127.
FEWBIT_HD inline float power_of_two(int n) {
  return from_bits(static_cast<uint32_t>(n + 127) << 23);
}

//@ quotient fma
/// top / (bottom + low), low the rounding error of bottom: one Newton step makes up for it and for
/// the division.
FEWBIT_HD inline float quotient(float top, float bottom, float low) {
  const float r = 1.0f / bottom;
  const float q = top * r;
  return fma(fma(-low, q, fma(-bottom, q, top)), r, q);
}

/// top / (1 + e) for 0 <= e <= 1; within 0.6 ulp.
FEWBIT_HD inline float over_one_plus(float top, float e) {
  const float bottom = 1.0f + e;
  return quotient(top, bottom, e - (bottom - 1.0f));
}

//@ approximate
// What a device approximates in one instruction or few. On a host the exact function stands
// for it; tests put in what is as far off as the device may be.
#if !defined(FEWBIT_HOST_EXP2)
#define FEWBIT_HOST_EXP2(x) std::exp2(x)
#define FEWBIT_HOST_LOG2(x) std::log2(x)
#define FEWBIT_HOST_RECIPROCAL(x) (1.0f / (x))
#define FEWBIT_HOST_QUOTIENT(a, b) ((a) / (b))
#endif

/// 2^x; within 2^-22 of it. Below 2^-126 it may be zero.
FEWBIT_HD inline float approximate_exp2(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return FEWBIT_HOST_EXP2(x);
#endif
}

/// log2(x); 2^-22 off between 1/2 and 2, elsewhere within 2^-22 of it.
FEWBIT_HD inline float approximate_log2(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return FEWBIT_HOST_LOG2(x);
#endif
}

/// 1 / x; within 2^-23 of it for 2^-126 <= |x| <= 2^126. Beyond it may be zero or infinite.
FEWBIT_HD inline float approximate_reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return FEWBIT_HOST_RECIPROCAL(x);
#endif
}

/// a / b for any two; within 2 ulp.
FEWBIT_HD inline float approximate_quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  return FEWBIT_HOST_QUOTIENT(a, b);
#endif
}

}  // namespace fewbit::generated::math
