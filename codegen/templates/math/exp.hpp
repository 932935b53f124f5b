// The exponential function, e^x - 1.
#pragma once

#include "codegen/templates/math/basic.hpp"

namespace fewbit::generated::math {

//@ reduced fma bits
/// x, not below low nor above high, so that it vectorises to two instructions; NaN stays.
FEWBIT_HD inline float clamp(float x, float low, float high) {
  const float raised = low > x ? low : x;
  return high < raised ? high : raised;
}

/// Adding it leaves the nearest integer, and the biases of two exponents, in the low bits.
constexpr float kBiasedMagic = 0x1.8p+23f + 254.0f;

/// x = n ln 2 + r + low with |r| <= 0.348 and |low| <= 2^-26, for |x| < 1e6.
struct Reduced {
  float r;
  float low;
  uint32_t n;  // n + 254 in the low nine bits, for times_power_of_two
};

FEWBIT_HD inline Reduced reduce(float x) {
  const float shifted = fma(x, 0x1.715476p+0f, kBiasedMagic);
  const float n = shifted - kBiasedMagic;
  const float high = fma(n, -0x1.62e43p-1f, x);
  const float r = fma(n, 0x1.05c61p-29f, high);
  const float low = fma(n, 0x1.05c61p-29f, high - r);
  return {r, low, to_bits(shifted)};
}

/// (e^r - 1 - r - r^2 / 2) / r^3 on |r| <= 0.348.
FEWBIT_HD inline float exp_cubic(float r) {
  float p = 0x1.a273aep-13f;
  p = fma(p, r, 0x1.6d5406p-10f);
  p = fma(p, r, 0x1.110feep-7f);
  p = fma(p, r, 0x1.5554e2p-5f);
  return fma(p, r, 0x1.555556p-3f);
}

//@ exp reduced
/// e^(x + low) = (y + rest) 2^n for a correction |low| < 1e-4, where rest is what y was rounded by.
struct ExpParts {
  float y;
  float rest;
  uint32_t n;  // as in Reduced
};

FEWBIT_HD inline ExpParts exp_parts(float x, float low) {
  const Reduced part = reduce(clamp(x, -104.0f, 89.0f));
  const float correction = part.low + low;
  const float square = part.r * part.r;
  const float curve = fma(square * part.r, exp_cubic(part.r), 0.5f * square);
  const float tail = fma(part.r + curve, correction, correction) + curve;
  const float sum = 1.0f + part.r;  // its rounding error goes into the last addition
  const float rest = tail + (part.r - (sum - 1.0f));
  const float y = sum + rest;
  return {y, rest - (y - sum), part.n};
}

/// y 2^n for the n of Reduced, in two steps, so that subnormal and huge results come out right.
FEWBIT_HD inline float times_power_of_two(float y, uint32_t n) {
  const uint32_t half = n >> 1;
  return y * from_bits(half << 23) * from_bits((n - half) << 23);
}

/// e^(x + low); within 0.6 ulp, 0.8 where subnormal.
FEWBIT_HD inline float exp_sum(float x, float low) {
  const ExpParts parts = exp_parts(x, low);
  return times_power_of_two(parts.y, parts.n);
}

FEWBIT_HD inline float exp(float x) {
  return exp_sum(x, 0.0f);
}

//@ expm1 reduced
/// e^x - 1 without cancellation; within 0.8 ulp up to x = 16, 1.1 ulp beyond.
FEWBIT_HD inline float expm1(float x) {
  const Reduced part = reduce(clamp(x, -20.0f, 89.0f));
  // e^r - 1 = p + rest, summed from the largest with what each rounding leaves.
  const float half_r = 0.5f * part.r;
  const float curve = half_r * part.r;
  const float cubic = fma(2.0f * curve * part.r, exp_cubic(part.r), fma(half_r, part.r, -curve));
  const float slope = part.r + curve;
  const float tail = curve - (slope - part.r) + (cubic + part.low);
  const float p = slope + tail;
  const float rest = tail - (p - slope);
  // 2^n p + 2^n - 1 by halves, since 2^128 is no float; the sum's rounding error is added last.
  const float half = from_bits((part.n - 128u) << 23);  // 2^(n - 1)
  const float sum = fma(half, p, half - 0.5f);
  const float y = sum + fma(half, rest, fma(half, p, half - 0.5f - sum));
  return part.n == to_bits(kBiasedMagic) ? p : 2.0f * y;
}

}  // namespace fewbit::generated::math
