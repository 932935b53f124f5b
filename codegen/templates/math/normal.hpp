// The normal distribution and the error function.
#pragma once

#include "codegen/templates/math/exp.hpp"

namespace fewbit::generated::math {

//@ gauss exp
/// e^(-a^2 / 2): the square's rounding error is carried along, or the tail would lose it.
FEWBIT_HD inline float gauss(float x) {
  const float a = std::fabs(x) > 15.0f ? 15.0f : x;
  const float half = -0.5f * a;
  const float square = half * a;
  return exp_sum(square, fma(half, a, -square));
}

//@ normal_tail fma
/// e^(a^2 / 2) normcdf(-a) for 1.41 <= a <= 15, a polynomial in 4 / (4 + a).
FEWBIT_HD inline float normal_tail(float a) {
  const float t = 4.0f / (4.0f + a);
  float p = -0x1.90a0f4p-5f;
  p = fma(p, t, 0x1.dd23e8p-4f);
  p = fma(p, t, -0x1.0a637ap-5f);
  p = fma(p, t, 0x1.997916p-4f);
  p = fma(p, t, 0x1.1f5edep-4f);
  p = fma(p, t, 0x1.8714d4p-4f);
  p = fma(p, t, 0x1.97b2p-4f);
  p = fma(p, t, 0x1.988d74p-4f);
  return p * t;
}

//@ normcdf_near fma
/// normcdf(x) for |x| <= 1.5.
FEWBIT_HD inline float normcdf_near_zero(float x) {
  const float s = x * x;
  float p = 0x1.a0c05ep-22f;
  p = fma(p, s, -0x1.1e9b7cp-17f);
  p = fma(p, s, 0x1.dd7904p-14f);
  p = fma(p, s, -0x1.36d63ap-10f);
  p = fma(p, s, 0x1.46c93p-7f);
  p = fma(p, s, -0x1.1057fep-4f);
  p = fma(p, s, 0x1.988452p-2f);
  return fma(p, x, 0.5f);
}

//@ normcdf normcdf_near gauss normal_tail
/// The standard normal distribution function, relative accuracy in the left tail; within 5 ulp.
FEWBIT_HD inline float normcdf(float x) {
  const float a = std::fabs(x) > 15.0f ? 15.0f : std::fabs(x);
  if (a < 1.5f) return normcdf_near_zero(x);
  const float tail = gauss(a) * normal_tail(a);
  return x < 0.0f ? tail : 1.0f - tail;
}

//@ normpdf gauss
/// The standard normal density, relative accuracy everywhere; within 2 ulp.
FEWBIT_HD inline float normpdf(float x) {
  return 0x1.988454p-2f * gauss(x);
}

//@ erf gauss normal_tail
/// The error function; within 2 ulp.
FEWBIT_HD inline float erf(float x) {
  const float a = std::fabs(x) > 9.0f ? 9.0f : std::fabs(x);
  if (a < 1.0f) {
    const float s = a * a;
    float p = -0x1.2823p-17f;
    p = fma(p, s, 0x1.caf944p-14f);
    p = fma(p, s, -0x1.ba322cp-11f);
    p = fma(p, s, 0x1.55e84cp-8f);
    p = fma(p, s, -0x1.b822cp-6f);
    p = fma(p, s, 0x1.ce2ea6p-4f);
    p = fma(p, s, -0x1.812744p-2f);
    p = fma(p, s, 0x1.06eba8p-3f);
    return fma(p, x, x);
  }
  const float z = 0x1.6a09e6p+0f * a;
  const float square = a * a;
  const float e = exp_sum(-square, -fma(a, a, -square));
  const float t = 1.0f - 2.0f * e * normal_tail(z);
  return x < 0.0f ? -t : t;
}

}  // namespace fewbit::generated::math
