// Float primitives for host and device. Only +, -, *, / and fused multiply-add are used, so results
// are the same on every machine as long as the compiler does not fuse on its own
// (-ffp-contract=off, nvcc -fmad=false). Bounds are against the real function, all floats, see
// math_test.
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

}  // namespace fewbit::generated::math
