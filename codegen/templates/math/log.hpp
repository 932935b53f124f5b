// Logarithms.
#pragma once

#include "codegen/templates/math/basic.hpp"

namespace fewbit::generated::math {

//@ log_sum fma
/// n ln 2 + log(1 + r) + low on -0.25 <= r <= 0.5.
FEWBIT_HD inline float log_sum(float n, float r, float low) {
  float p = 0x1.23f5e6p-5f;
  p = fma(p, r, -0x1.6fc14ep-4f);
  p = fma(p, r, 0x1.e2451ap-4f);
  p = fma(p, r, -0x1.060018p-3f);
  p = fma(p, r, 0x1.245e94p-3f);
  p = fma(p, r, -0x1.54f668p-3f);
  p = fma(p, r, 0x1.99955cp-3f);
  p = fma(p, r, -0x1.000118p-2f);
  p = fma(p, r, 0x1.555562p-2f);
  p = fma(p, r, -0x1.fffffep-2f);
  const float sum = fma(n, 0x1.62e43p-1f, r);  // its rounding error goes into the last addition
  const float rest = fma(n, 0x1.62e43p-1f, -sum) + r;
  return sum + (fma(r * r, p, rest) + fma(n, -0x1.05c61p-29f, low));
}

//@ log1p log_sum bits
/// log(1 + x) + low without cancellation; within 0.9 ulp.
FEWBIT_HD inline float log1p_sum(float x, float low) {
  if (!(x > -1.0f && x < INFINITY)) return x == -1.0f ? -INFINITY : x > 0.0f ? x : NAN;
  // 1 + x = 2^n (1 + r) with 1 + r in [0.75, 1.5); r is formed from x, not from the rounded sum.
  const int n = (static_cast<int>(to_bits(1.0f + x)) - 0x3f400000) >> 23;
  const float scale = power_of_two(-(n >> 1)) * power_of_two((n >> 1) - n);
  const float r = fma(x, scale, scale - 1.0f);
  return log_sum(static_cast<float>(n), r, low);
}

FEWBIT_HD inline float log1p(float x) {
  return log1p_sum(x, 0.0f);
}

//@ log log_sum bits
/// log(x); within 0.9 ulp.
FEWBIT_HD inline float log(float x) {
  if (!(x > 0.0f && x < INFINITY)) return x == 0.0f ? -INFINITY : x > 0.0f ? x : NAN;
  const bool tiny = x < 0x1p-126f;
  const int bits = static_cast<int>(to_bits(tiny ? x * 0x1p+23f : x));
  const int n = (bits - 0x3f400000) >> 23;
  const float r = from_bits(static_cast<uint32_t>(bits) - (static_cast<uint32_t>(n) << 23)) - 1.0f;
  return log_sum(static_cast<float>(tiny ? n - 23 : n), r, 0.0f);
}

}  // namespace fewbit::generated::math
