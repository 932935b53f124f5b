// Tanh, its slope, its square, x - tanh(x).
#pragma once

#include "codegen/templates/math/exp.hpp"

namespace fewbit::generated::math {

//@ tanh_parts exp
/// Below it tanh comes from a, above it from 1 - tanh(a), which is less than 0.47 there.
FEWBIT_HD inline bool is_near_zero(float a) {
  return a < 0.6f;
}

/// tanh(a) = t + low near zero.
struct TanhPair {
  float t;
  float low;
};

/// (tanh(a) - a) / a^3 with s = a^2.
FEWBIT_HD inline float tanh_cubic(float s) {
  float p = 0x1.437b6ep-13f;
  p = fma(p, s, -0x1.faea1ep-11f);
  p = fma(p, s, 0x1.acf0eap-9f);
  p = fma(p, s, -0x1.1eada6p-7f);
  p = fma(p, s, 0x1.660068p-6f);
  p = fma(p, s, -0x1.ba1af6p-5f);
  p = fma(p, s, 0x1.11112cp-3f);
  return fma(p, s, -0x1.555556p-2f);
}

FEWBIT_HD inline TanhPair tanh_near_zero(float a) {
  const float s = a * a;
  const float p = tanh_cubic(s);
  const float t = fma(a * s, p, a);
  return {t, fma(a * s, p, a - t)};
}

/// 1 - tanh(a) = 2 e / (1 + e) with e = e^(-2 a) for a >= 0; what e was rounded by is put back.
FEWBIT_HD inline float one_minus_tanh(float a) {
  const ExpParts parts = exp_parts(-2.0f * a, 0.0f);
  const float e = times_power_of_two(parts.y, parts.n);
  const float rest = times_power_of_two(parts.rest, parts.n);
  const float bottom = 1.0f + e;
  const float r = 1.0f / bottom;
  const float q = 2.0f * e * r;
  const float low = e - (bottom - 1.0f) + rest;
  return fma(fma(-low, q, fma(-bottom, q, 2.0f * e) + 2.0f * rest), r, q);
}

//@ tanh tanh_parts
/// Hyperbolic tangent; within 0.8 ulp.
FEWBIT_HD inline float tanh(float x) {
  const float a = std::fabs(x);
  if (is_near_zero(a)) return tanh_near_zero(x).t;
  const float t = 1.0f - one_minus_tanh(a);
  return x < 0.0f ? -t : t;
}

//@ tanhshrink tanh_parts
/// x - tanh(x) without cancellation; within 3.5 ulp.
FEWBIT_HD inline float tanhshrink(float x) {
  const float a = std::fabs(x);
  const float s = x * x;
  if (is_near_zero(a)) return -x * s * tanh_cubic(s);
  const float t = (a - 1.0f) + one_minus_tanh(a);
  return x < 0.0f ? -t : t;
}

//@ sech2 tanh_parts
/// 1 / cosh(x)^2, the slope of tanh, relative accuracy in the tails; within 1.5 ulp.
FEWBIT_HD inline float sech2(float x) {
  const float a = std::fabs(x);
  if (is_near_zero(a)) {
    const TanhPair tanh = tanh_near_zero(a);
    return fma(-tanh.t, tanh.t, 1.0f) - 2.0f * tanh.t * tanh.low;
  }
  const float q = one_minus_tanh(a);
  return fma(-q, q, 2.0f * q);
}

//@ tanh_squared tanh_parts
/// tanh(x)^2, the slope of tanhshrink; within 1.3 ulp.
FEWBIT_HD inline float tanh_squared(float x) {
  const float a = std::fabs(x);
  if (is_near_zero(a)) {
    const TanhPair tanh = tanh_near_zero(a);
    return fma(tanh.t, tanh.t, 2.0f * tanh.t * tanh.low);
  }
  const float q = one_minus_tanh(a);
  return fma(q, q, fma(-2.0f, q, 1.0f));
}

}  // namespace fewbit::generated::math
