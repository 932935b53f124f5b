// The exponential function, e^x - 1.
#pragma once

#include "codegen/templates/math/basic.hpp"

namespace fewbit::generated::math {

//@ reduced fma bits
/// x = n ln 2 + r + low with |r| <= 0.348 and |low| <= 2^-26, for |x| < 1e6.
struct Reduced {
  float r;
  float low;
  int n;
};

FEWBIT_HD inline Reduced reduce(float x) {
  const float magic = 0x1.8p+23f;  // adding it leaves the nearest integer in the low bits
  const float shifted = fma(x, 0x1.715476p+0f, magic);
  const float n = shifted - magic;
  const float high = fma(n, -0x1.62e43p-1f, x);
  const float r = fma(n, 0x1.05c61p-29f, high);
  const float low = fma(n, 0x1.05c61p-29f, high - r);
  return {r, low, static_cast<int>(to_bits(shifted) - to_bits(magic))};
}

/// (e^r - 1 - r) / r^2 on |r| <= 0.348.
FEWBIT_HD inline float exp_tail(float r) {
  float p = 0x1.a273aep-13f;
  p = fma(p, r, 0x1.6d5406p-10f);
  p = fma(p, r, 0x1.110feep-7f);
  p = fma(p, r, 0x1.5554e2p-5f);
  p = fma(p, r, 0x1.555556p-3f);
  return fma(p, r, 0.5f);
}

//@ exp reduced
/// e^(x + low) for a correction |low| < 1e-4; within 0.6 ulp.
FEWBIT_HD inline float exp_sum(float x, float low) {
  const float bounded = x > 89.0f ? 89.0f : x < -104.0f ? -104.0f : x;
  const Reduced part = reduce(bounded);
  const float correction = part.low + low;
  const float curve = part.r * part.r * exp_tail(part.r);
  const float tail = fma(part.r + curve, correction, correction) + curve;
  const float sum = 1.0f + part.r;  // its rounding error goes into the last addition
  const float y = sum + (tail + (part.r - (sum - 1.0f)));
  const int half = part.n >> 1;  // two steps, so that subnormal and huge results come out right
  return y * power_of_two(half) * power_of_two(part.n - half);
}

FEWBIT_HD inline float exp(float x) {
  return exp_sum(x, 0.0f);
}

//@ expm1 reduced
/// e^x - 1 without cancellation; within 1.5 ulp.
FEWBIT_HD inline float expm1(float x) {
  const float bounded = x > 89.0f ? 89.0f : x < -20.0f ? -20.0f : x;
  const Reduced part = reduce(bounded);
  const float p = fma(part.r * part.r, exp_tail(part.r), part.r);
  const float half = power_of_two(part.n - 1);
  return part.n == 0 ? p : 2.0f * fma(half, p, half - 0.5f);
}

}  // namespace fewbit::generated::math
