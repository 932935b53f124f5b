// Tanh, its slope, its square.
#pragma once

#include "codegen/templates/math/exp.hpp"

namespace fewbit::generated::math {

//@ tanh_parts exp quotient
/// tanh(a) = t + low on |a| <= 1.
struct TanhPair {
  float t;
  float low;
};

FEWBIT_HD inline TanhPair tanh_near_zero(float a) {
  const float s = a * a;
  float p = 0x1.437b6ep-13f;
  p = fma(p, s, -0x1.faea1ep-11f);
  p = fma(p, s, 0x1.acf0eap-9f);
  p = fma(p, s, -0x1.1eada6p-7f);
  p = fma(p, s, 0x1.660068p-6f);
  p = fma(p, s, -0x1.ba1af6p-5f);
  p = fma(p, s, 0x1.11112cp-3f);
  p = fma(p, s, -0x1.555556p-2f);
  const float t = fma(a * s, p, a);
  return {t, fma(a * s, p, a - t)};
}

/// 1 - tanh(a) for a >= 0.
FEWBIT_HD inline float one_minus_tanh(float a) {
  const float e = exp(-2.0f * a);
  return over_one_plus(2.0f * e, e);
}

//@ tanh tanh_parts
/// Hyperbolic tangent; within 1 ulp.
FEWBIT_HD inline float tanh(float x) {
  const float a = std::fabs(x);
  if (a < 1.0f) return tanh_near_zero(x).t;
  const float t = 1.0f - one_minus_tanh(a);
  return x < 0.0f ? -t : t;
}

//@ sech2 tanh_parts
/// 1 / cosh(x)^2, the slope of tanh, relative accuracy in the tails; within 3 ulp.
FEWBIT_HD inline float sech2(float x) {
  const float a = std::fabs(x);
  if (a < 0.9f) {
    const TanhPair tanh = tanh_near_zero(a);
    return fma(-tanh.t, tanh.t, 1.0f) - 2.0f * tanh.t * tanh.low;
  }
  const float q = one_minus_tanh(a);
  return fma(-q, q, 2.0f * q);
}

//@ tanh_squared tanh_parts
/// tanh(x)^2, the slope of tanhshrink; within 2 ulp.
FEWBIT_HD inline float tanh_squared(float x) {
  const float a = std::fabs(x);
  if (a < 0.9f) {
    const TanhPair tanh = tanh_near_zero(a);
    return fma(tanh.t, tanh.t, 2.0f * tanh.t * tanh.low);
  }
  const float q = one_minus_tanh(a);
  return fma(q, q, fma(-2.0f, q, 1.0f));
}

}  // namespace fewbit::generated::math
