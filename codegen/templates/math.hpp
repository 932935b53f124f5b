// Float primitives for host and device. Only +, -, *, / and fused multiply-add are used, so results
// are the same on every machine as long as the compiler does not fuse on its own (-ffp-contract=off,
// nvcc -fmad=false). Bounds are against the real function, all floats, see math_test.
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

FEWBIT_HD inline float exp(float x) { return exp_sum(x, 0.0f); }

//@ expm1 reduced
/// e^x - 1 without cancellation; within 1.5 ulp.
FEWBIT_HD inline float expm1(float x) {
  const float bounded = x > 89.0f ? 89.0f : x < -20.0f ? -20.0f : x;
  const Reduced part = reduce(bounded);
  const float p = fma(part.r * part.r, exp_tail(part.r), part.r);
  const float half = power_of_two(part.n - 1);
  return part.n == 0 ? p : 2.0f * fma(half, p, half - 0.5f);
}

//@ log1p_tail fma
/// log(1 + r) on -0.25 <= r <= 0.5.
FEWBIT_HD inline float log1p_near_zero(float r) {
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
  return fma(r * r, p, r);
}

//@ log1p log1p_tail bits
/// log(1 + x) without cancellation; within 1 ulp.
FEWBIT_HD inline float log1p(float x) {
  if (!(x > -1.0f && x < INFINITY)) return x == -1.0f ? -INFINITY : x > 0.0f ? x : x - x + NAN;
  // 1 + x = 2^n (1 + r) with 1 + r in [0.75, 1.5); r is formed from x, not from the rounded sum.
  const int n = (static_cast<int>(to_bits(1.0f + x)) - 0x3f400000) >> 23;
  const float scale = power_of_two(-(n >> 1)) * power_of_two((n >> 1) - n);
  const float r = fma(x, scale, scale - 1.0f);
  return fma(static_cast<float>(n), 0x1.62e43p-1f, log1p_near_zero(r));
}

//@ log log1p_tail bits
/// log(x); within 1 ulp.
FEWBIT_HD inline float log(float x) {
  if (!(x > 0.0f && x < INFINITY)) return x == 0.0f ? -INFINITY : x > 0.0f ? x : x - x + NAN;
  const bool tiny = x < 0x1p-126f;
  const int bits = static_cast<int>(to_bits(tiny ? x * 0x1p+23f : x));
  const int n = (bits - 0x3f400000) >> 23;
  const float r = from_bits(static_cast<uint32_t>(bits) - (static_cast<uint32_t>(n) << 23)) - 1.0f;
  return fma(static_cast<float>(tiny ? n - 23 : n), 0x1.62e43p-1f, log1p_near_zero(r));
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

//@ sigmoid exp quotient
/// 1 / (1 + e^-x), relative accuracy in both tails; within 1.5 ulp.
FEWBIT_HD inline float sigmoid(float x) {
  const float e = exp(-std::fabs(x));
  return over_one_plus(x < 0.0f ? e : 1.0f, e);
}

//@ sigmoid_slope exp quotient
/// sigmoid(x) (1 - sigmoid(x)) from the smaller factor; within 2 ulp.
FEWBIT_HD inline float sigmoid_slope(float x) {
  const float e = exp(-std::fabs(x));
  const float s = over_one_plus(e, e);
  return fma(-s, s, s);
}

//@ softplus exp log1p
/// log(1 + e^x) without overflow; within 2 ulp.
FEWBIT_HD inline float softplus(float x) {
  return (x > 0.0f ? x : 0.0f) + log1p(exp(-std::fabs(x)));
}

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

//@ softsign_slope fma
/// 1 / (1 + |x|)^2; within 1.5 ulp.
FEWBIT_HD inline float softsign_slope(float x) {
  const float a = std::fabs(x);
  const float d = 1.0f + a;
  const float low = a < 1.0f ? a - (d - 1.0f) : 1.0f - (d - a);
  const float r = 1.0f / d;
  const float error = fma(-low, r, fma(-d, r, 1.0f)) * r;  // of r
  return d < 0x1p+60f ? fma(2.0f * r, error, r * r) : 0.0f * error;
}

//@ gate exp
/// tanh(log(1 + e^x)) as a quotient: with u = e^x, (u^2 + 2u) / (u^2 + 2u + 2), for positive x both
/// divided by u^2. The low parts are rounding errors.
struct Gate {
  float top;
  float top_low;
  float bottom;
  float bottom_low;
  float slope;  // the derivative is slope / bottom^2
};

FEWBIT_HD inline Gate gate(float x) {
  const float e = exp(-std::fabs(x));
  const float rise = 4.0f * fma(e, e, e);
  if (x < 0.0f) {
    const float sum = e + 2.0f;
    const float product = e * sum;
    const float low = fma(e, sum, -product) + e * (e - (sum - 2.0f));
    const float bottom = product + 2.0f;
    return {product, low, bottom, product - (bottom - 2.0f) + low, rise};
  }
  const float twice = 2.0f * e;
  const float top = 1.0f + twice;
  const float low = twice - (top - 1.0f);
  const float square = twice * e;
  const float bottom = top + square;
  const float bottom_low = square - (bottom - top) + fma(twice, e, -square) + low;
  return {top, low, bottom, bottom_low, rise * e};
}

//@ tanh_softplus gate
/// tanh(log(1 + e^x)), the gate of mish; within 1.5 ulp.
FEWBIT_HD inline float tanh_softplus(float x) {
  const Gate g = gate(x);
  const float r = 1.0f / g.bottom;
  const float q = g.top * r;
  return fma(fma(-g.bottom, q, g.top) + fma(-g.bottom_low, q, g.top_low), r, q);
}

//@ tanh_softplus_slope gate quotient
/// The slope of tanh(log(1 + e^x)); within 4 ulp.
FEWBIT_HD inline float tanh_softplus_slope(float x) {
  const Gate g = gate(x);
  const float r = quotient(1.0f, g.bottom, g.bottom_low);
  return g.slope * r * r;
}

//@ mish_slope gate
/// The slope of x tanh(log(1 + e^x)): top / bottom + x slope / bottom^2, both quotients corrected.
FEWBIT_HD inline float mish_slope(float x) {
  const Gate g = gate(x);
  const float r = 1.0f / g.bottom;
  const float q = g.top * r;
  const float q_rest = fma(-g.bottom, q, g.top) + fma(-g.bottom_low, q, g.top_low);
  const float square = g.bottom * g.bottom;
  const float square_low = fma(g.bottom, g.bottom, -square) + 2.0f * g.bottom * g.bottom_low;
  const float top = x * g.slope;
  const float p = top * r * r;
  const float p_rest = fma(-square_low, p, fma(-square, p, top));
  return q + (p + fma(p_rest, r * r, q_rest * r));
}

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

//@ normcdf gauss normal_tail
/// The standard normal distribution function, relative accuracy in the left tail; within 5 ulp.
FEWBIT_HD inline float normcdf(float x) {
  const float a = std::fabs(x) > 15.0f ? 15.0f : std::fabs(x);
  if (a < 1.5f) {
    const float s = a * a;
    float p = 0x1.a0c05ep-22f;
    p = fma(p, s, -0x1.1e9b7cp-17f);
    p = fma(p, s, 0x1.dd7904p-14f);
    p = fma(p, s, -0x1.36d63ap-10f);
    p = fma(p, s, 0x1.46c93p-7f);
    p = fma(p, s, -0x1.1057fep-4f);
    p = fma(p, s, 0x1.988452p-2f);
    return fma(p, x, 0.5f);
  }
  const float tail = gauss(a) * normal_tail(a);
  return x < 0.0f ? tail : 1.0f - tail;
}

//@ normpdf gauss
/// The standard normal density, relative accuracy everywhere; within 2 ulp.
FEWBIT_HD inline float normpdf(float x) { return 0x1.988454p-2f * gauss(x); }

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
