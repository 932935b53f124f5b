// What the values of 16-bit outputs take, by the device's approximations.
#pragma once

#include "codegen/templates/math/basic.hpp"

namespace fewbit::generated::math {

//@ brief approximate fma
/// The primitives for results in 16 bits: without branches, relative accuracy around zeros and in
/// the tails down to the smallest bfloat16. Errors are relative and hold with the device's
/// approximations as far off as they may be; see brief_math_test.
namespace brief {

using math::fma;

constexpr float kLog2E = 0x1.715476p+0f;
constexpr float kLn2 = 0x1.62e43p-1f;

/// Powers of two go with this exponent more where the device would make them zero too early.
constexpr float kRaised = 24.0f;
constexpr float kLower = 0x1p-24f;
constexpr float kRaise = 0x1p+24f;

/// The smaller one; NaN stays.
FEWBIT_HD inline float at_most(float x, float bound) {
  return bound < x ? bound : x;
}

/// 1 / x for what is neither subnormal nor above 2^126.
FEWBIT_HD inline float reciprocal(float x) {
  return approximate_reciprocal(x);
}

/// a / b; within 2^-21.
FEWBIT_HD inline float quotient(float a, float b) {
  return approximate_quotient(a, b);
}

/// e^x, a square, so that subnormal results come out right; within 2^-16.
FEWBIT_HD inline float exp(float x) {
  const float root = approximate_exp2(0.5f * kLog2E * x);
  return root * root;
}

/// e^x - 1; within 2^-14.
FEWBIT_HD inline float expm1(float x) {
  const float near = fma(0.5f * x, x, x);
  const float far = approximate_exp2(kLog2E * x) - 1.0f;
  return std::fabs(x) < 0x1p-6f ? near : far;
}

/// log(1 + x); within 2^-13.
FEWBIT_HD inline float log1p(float x) {
  const float near = x * fma(x, fma(x, 0x1.555556p-2f, -0.5f), 1.0f);
  const float far = kLn2 * approximate_log2(1.0f + x);
  return std::fabs(x) < 0x1p-4f ? near : far;
}

/// log(x); within 2^-13.
FEWBIT_HD inline float log(float x) {
  const float r = x - 1.0f;
  const float near = r * fma(r, fma(r, 0x1.555556p-2f, -0.5f), 1.0f);
  const float far = kLn2 * approximate_log2(x);
  return std::fabs(r) < 0x1p-4f ? near : far;
}

/// (1 - tanh(x)) / 2; 2^-22 off.
FEWBIT_HD inline float tanh_complement(float x) {
  return approximate_reciprocal(1.0f + approximate_exp2(2.0f * kLog2E * x));
}

/// Hyperbolic tangent; within 2^-13.
FEWBIT_HD inline float tanh(float x) {
  const float far = fma(-2.0f, tanh_complement(x), 1.0f);
  return std::fabs(x) < 0x1p-6f ? x : far;
}

/// x - tanh(x); within 2^-15.
FEWBIT_HD inline float tanhshrink(float x) {
  const float s = x * x;
  const float p = fma(fma(0x1.920e18p-5f, s, -0x1.107a68p-3f), s, 0x1.5554aap-2f);
  const float near = x * s * p;
  const float far = fma(2.0f, tanh_complement(x), x - 1.0f);
  return std::fabs(x) < 0.4f ? near : far;
}

/// 1 / (1 + e^-x); within 2^-16.
FEWBIT_HD inline float sigmoid(float x) {
  const float e = approximate_exp2(at_most(fma(kLog2E, x, kRaised), 64.0f));
  return e * approximate_reciprocal(kRaise + e);
}

/// log(1 + e^x); within 2^-13.
FEWBIT_HD inline float softplus(float x) {
  const float e = exp(-std::fabs(x));
  float p = 0x1.52b7a8p-5f;  // log(1 + e) / e
  p = fma(p, e, -0x1.42693cp-3f);
  p = fma(p, e, 0x1.39a6f8p-2f);
  p = fma(p, e, -0x1.fce7cp-2f);
  p = fma(p, e, 0x1.fff89p-1f);
  return fma(p, e, 0.0f < x ? x : 0.0f);
}

/// tanh(log(1 + e^x)) = (u^2 + 2u) / (u^2 + 2u + 2) with u = e^x; within 2^-16.
FEWBIT_HD inline float tanh_softplus(float x) {
  const float u = approximate_exp2(at_most(fma(kLog2E, x, kRaised), kRaised + 30.0f));
  const float top = u * fma(u, kLower, 2.0f);
  return top * approximate_reciprocal(top + 2.0f * kRaise);
}

/// 2^24 normcdf(-a) for 0 <= a <= 15. The exponent is a polynomial whose error follows what fp16
/// shows of a normcdf(-a) up to 5.6 and what bfloat16 shows beyond.
FEWBIT_HD inline float normal_tail(float a) {
  float p = -0x1.f65dc2p-22f;
  p = fma(p, a, 0x1.96fb34p-16f);
  p = fma(p, a, -0x1.1427ap-11f);
  p = fma(p, a, 0x1.9f828cp-8f);
  p = fma(p, a, -0x1.895008p-5f);
  p = fma(p, a, -0x1.dd6322p-2f);
  p = fma(p, a, -0x1.25c1aap+0f);
  p = fma(p, a, kRaised - 0x1.00137cp+0f);
  return approximate_exp2(p);
}

/// The standard normal distribution function; within 2^-11 above -4, within 2^-8 below, or 2^-135
/// off.
FEWBIT_HD inline float normcdf(float x) {
  const float tail = kLower * normal_tail(at_most(std::fabs(x), 15.0f));
  const float rest = 1.0f - tail;
  return x < 0.0f ? tail : rest;
}

/// x normcdf(x) = max(x, 0) - |x| normcdf(-|x|); as normcdf, or 2^-134 off.
FEWBIT_HD inline float gelu(float x) {
  const float a = at_most(std::fabs(x), 15.0f);
  return fma(a * normal_tail(a), -kLower, 0.0f < x ? x : 0.0f);
}

/// The standard normal density; within 2^-16.
FEWBIT_HD inline float normpdf(float x) {
  const float root = approximate_exp2(-0.25f * kLog2E * (x * x));
  return 0x1.988454p-2f * root * root;
}

/// The error function; within 2^-13.
FEWBIT_HD inline float erf(float x) {
  const float s = x * x;
  const float p = fma(fma(0x1.84fafap-4f, s, -0x1.7ddda6p-2f), s, 0x1.20d7aap+0f);
  const float a = std::fabs(x);
  float q = -0x1.a5af34p-5f;  // log2(1 - erf(a))
  q = fma(q, a, -0x1.0f4e12p+0f);
  q = fma(q, a, -0x1.88ab4p+0f);
  q = fma(q, a, -0x1.7ec75ep-6f);
  const float far = std::copysign(1.0f - approximate_exp2(q), x);
  return a < 0.7f ? x * p : far;
}

}  // namespace brief

}  // namespace fewbit::generated::math
