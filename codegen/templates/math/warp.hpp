// What float values take on a device.
#pragma once

#include "codegen/templates/math/basic.hpp"
#include "codegen/templates/math/exp.hpp"
#include "codegen/templates/math/hyperbolic.hpp"
#include "codegen/templates/math/log.hpp"
#include "codegen/templates/math/normal.hpp"

namespace fewbit::generated::math {

//@ warp approximate product bits exp log log1p tanh_parts normcdf_near normpdf erf
/// The primitives for float on a device: without branches that lanes of a warp could part at, and
/// without divisions. Errors are absolute unless stated, and hold with the device's approximations
/// as far off as they may be; see warp_math_test.
namespace warp {

using math::erf;
using math::exp;
using math::fma;
using math::log;
using math::log1p;
using math::normpdf;
using math::product;

/// The quotient q of a and b with what it is off by put back, r being 1 / b. Where that makes no
/// number q is a limit.
FEWBIT_HD inline float corrected(float q, float a, float b, float r) {
  const float better = fma(fma(-b, q, a), r, q);
  return std::fabs(better) < INFINITY ? better : q;
}

/// a / b; within 1 ulp, within 5 where b is subnormal or above 2^126.
FEWBIT_HD inline float quotient(float a, float b) {
  return corrected(approximate_quotient(a, b), a, b, approximate_reciprocal(b));
}

/// a / b for b neither subnormal nor above 2^126; within 1 ulp.
FEWBIT_HD inline float quotient_by_normal(float a, float b) {
  const float r = approximate_reciprocal(b);
  return corrected(a * r, a, b, r);
}

/// e^x = (1 + rise) 2^n for -88 <= x <= 89.
struct Power {
  float rise;
  uint32_t n;  // n + 127 in the low nine bits
};

FEWBIT_HD inline Power power(float x) {
  constexpr float kMagic = 0x1.8p+23f + 127.0f;  // adding it leaves the nearest integer, biased
  const float shifted = fma(x, 0x1.715476p+0f, kMagic);
  const float n = shifted - kMagic;
  const float r = fma(n, 0x1.05c61p-29f, fma(n, -0x1.62e43p-1f, x));
  float p = 0x1.6d9942p-10f;  // (e^r - 1 - r) / r^2
  p = fma(p, r, 0x1.122824p-7f);
  p = fma(p, r, 0x1.555486p-5f);
  p = fma(p, r, 0x1.5554bp-3f);
  p = fma(p, r, 0.5f);
  return {fma(r * r, p, r), to_bits(shifted)};
}

/// e^x for x <= 88, zero below -87.7; within 1.2 ulp.
FEWBIT_HD inline float decay(float x) {
  const Power e = power(x < -88.0f ? -88.0f : x);
  const float scale = from_bits(e.n << 23);  // 2^n, zero for n = -127
  return fma(scale, e.rise, scale);
}

/// e^x - 1; within 1.5 ulp.
FEWBIT_HD inline float expm1(float x) {
  const float above = x < -20.0f ? -20.0f : x;
  const Power e = power(89.0f < above ? 89.0f : above);
  const float half = from_bits((e.n - 1u) << 23);  // 2^(n - 1), since 2^128 is no float
  return 2.0f * fma(half, e.rise, half - 0.5f);
}

/// top / (1 + e) for 0 <= e <= 1 and top = 1 or e; within 0.6 ulp.
FEWBIT_HD inline float over_one_plus(float top, float e) {
  const float r = approximate_reciprocal(1.0f + e);
  const float q = top * r;
  return fma(fma(-e, q, top - q), r, q);
}

/// 1 / (1 + e^-x); 2^-24 off, 2 ulp above 1/2.
FEWBIT_HD inline float sigmoid(float x) {
  const float e = decay(-std::fabs(x));
  return over_one_plus(x < 0.0f ? e : 1.0f, e);
}

/// Hyperbolic tangent; within 2 ulp.
FEWBIT_HD inline float tanh(float x) {
  const float e = decay(-2.0f * std::fabs(x));
  const float far = fma(-2.0f, over_one_plus(e, e), 1.0f);
  const float near = tanh_near_zero(x).t;
  return is_near_zero(std::fabs(x)) ? near : std::copysign(far, x);
}

/// x - tanh(x); within 5 ulp.
FEWBIT_HD inline float tanhshrink(float x) {
  const float a = std::fabs(x);
  const float e = decay(-2.0f * a);
  const float far = fma(2.0f, over_one_plus(e, e), a - 1.0f);
  const float s = x * x;
  const float near = -x * s * tanh_cubic(s);
  return is_near_zero(a) ? near : std::copysign(far, x);
}

/// log(1 + e^x); 2^-24 off, 2 ulp above 1/2.
FEWBIT_HD inline float softplus(float x) {
  const float e = decay(-std::fabs(x));
  float p = -0x1.bf74a2p-9f;  // (log(1 + e) - e) / e^2
  p = fma(p, e, 0x1.52029cp-6f);
  p = fma(p, e, -0x1.dede5ap-5f);
  p = fma(p, e, 0x1.b8b654p-4f);
  p = fma(p, e, -0x1.3b6a88p-3f);
  p = fma(p, e, 0x1.93adacp-3f);
  p = fma(p, e, -0x1.ff3606p-3f);
  p = fma(p, e, 0x1.554e9ep-2f);
  p = fma(p, e, -0x1.ffffd8p-2f);
  return fma(e * e, p, e) + (0.0f < x ? x : 0.0f);
}

/// tanh(log(1 + e^x)) = (u^2 + 2u) / (u^2 + 2u + 2) with u = e^x; 2^-24 off, 2 ulp above 1/2.
FEWBIT_HD inline float tanh_softplus(float x) {
  const float u = decay(20.0f < x ? 20.0f : x);
  const float top = fma(u, u, 2.0f * u);
  const float r = approximate_reciprocal(top + 2.0f);
  const float q = top * r;
  return fma(fma(-2.0f, q, fma(-top, q, top)), r, q);
}

/// 16 normcdf(-a) for 1.5 <= a <= 15; within 2^-21, 2^-13 beyond 4.
FEWBIT_HD inline float far_tail(float a) {
  float p = -0x1.c758p-30f;
  p = fma(p, a, 0x1.0d2dfap-23f);
  p = fma(p, a, -0x1.1643d2p-18f);
  p = fma(p, a, 0x1.4ce3a8p-14f);
  p = fma(p, a, -0x1.022058p-10f);
  p = fma(p, a, 0x1.15512ap-7f);
  p = fma(p, a, -0x1.b3c7b4p-5f);
  p = fma(p, a, -0x1.d799fcp-2f);
  p = fma(p, a, -0x1.2619aep+0f);
  p = fma(p, a, 4.0f - 0x1.00444ap+0f);
  return approximate_exp2(p);
}

/// The standard normal distribution function; 2^-24 off.
FEWBIT_HD inline float normcdf(float x) {
  const float a = std::fabs(x);
  const float tail = 0x1p-4f * far_tail(15.0f < a ? 15.0f : a);
  const float far = x < 0.0f ? tail : 1.0f - tail;
  const float near = normcdf_near_zero(x);
  return a < 1.5f ? near : far;
}

/// x normcdf(x), far from zero max(x, 0) - |x| normcdf(-|x|); 2^-24 max(1, |x|) off.
FEWBIT_HD inline float gelu(float x) {
  const float a = 15.0f < std::fabs(x) ? 15.0f : std::fabs(x);
  const float far = fma(a * far_tail(a), -0x1p-4f, 0.0f < x ? x : 0.0f);
  const float near = x * normcdf_near_zero(x);
  return a < 1.5f ? near : far;
}

}  // namespace warp

}  // namespace fewbit::generated::math
