// Sine, cosine, arc tangent.
#pragma once

#include "codegen/templates/math/basic.hpp"

namespace fewbit::generated::math {

//@ quarter_turns fma bits
/// x = n pi / 2 + r + low with |r| <= 0.79; the low two bits of n count.
struct Angle {
  float r;
  float low;
  uint32_t n;
};

/// For |x| <= 2^20, pi / 2 in three parts; NaN stays.
FEWBIT_HD inline Angle near_angle(float x) {
  constexpr float kMagic = 0x1.8p+23f;  // adding it leaves the nearest integer
  const float shifted = fma(x, 0x1.45f306p-1f, kMagic);
  const float n = shifted - kMagic;
  const float high = fma(n, -0x1.921fb6p+0f, x);
  const float second = n * 0x1.777a5cp-25f;
  const float r = high + second;  // where they cancel what both sums lose counts
  const float back = r - high;
  const float low = high - (r - back) + (second - back) + fma(n, 0x1.777a5cp-25f, -second);
  return {r, fma(n, 0x1.ee59dap-50f, low), to_bits(shifted)};
}

/// For larger x, a 24-bit integer m times a power of two: m times the 96 bits of 2 / pi that whole
/// turns and the result's precision leave (Payne and Hanek 1983). NaN for infinity.
FEWBIT_HD inline Angle far_angle(float x) {
  const uint32_t two_over_pi[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                  0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
  const uint32_t bits = to_bits(x) & 0x7fffffffu;
  const uint64_t m = (bits & 0x7fffffu) | 0x800000u;
  const uint32_t start = (bits >> 23) - 120u;  // 27 to 135, of the first bit that counts
  const auto word = [&](uint32_t i) {
    const uint64_t pair =
        (uint64_t{two_over_pi[start / 32 + i]} << 32) | two_over_pi[start / 32 + i + 1];
    return (pair << (start % 32)) >> 32;
  };
  const uint64_t middle = m * word(1) + ((m * word(2)) >> 32);
  const uint64_t top = m * word(0) + (middle >> 32);
  const uint64_t quarters = (top << 32) | (middle & 0xffffffffu);  // of a turn, in 2^-62
  const uint64_t n = (quarters >> 62) + ((quarters >> 61) & 1u);
  const auto rest = static_cast<int64_t>(quarters - (n << 62));
  const auto high = static_cast<float>(rest);
  const auto low = static_cast<float>(rest - static_cast<int64_t>(high));
  const float r = 0x1.921fb6p-62f * high;
  const float r_low =
      fma(0x1.921fb6p-62f, high, -r) - 0x1.777a5cp-87f * high + 0x1.921fb6p-62f * low;
  const Angle angle{r + 0.0f * x, r_low, static_cast<uint32_t>(n)};
  return x < 0.0f ? Angle{-angle.r, -angle.low, 0u - angle.n} : angle;
}

FEWBIT_HD inline Angle angle_of(float x) {
  return std::fabs(x) > 0x1p+20f ? far_angle(x) : near_angle(x);
}

/// sin(r + low) and cos(r + low).
FEWBIT_HD inline float sine_near_zero(float r, float low) {
  const float s = r * r;
  float p = -0x1.99495cp-13f;  // (sin(r) - r) / r^3
  p = fma(p, s, 0x1.110752p-7f);
  p = fma(p, s, -0x1.555546p-3f);
  return r + fma(r * s, p, fma(-0.5f * s, low, low));
}

FEWBIT_HD inline float cosine_near_zero(float r, float low) {
  const float s = r * r;
  float p = 0x1.9a0092p-16f;  // (cos(r) - 1 + r^2 / 2) / r^4
  p = fma(p, s, -0x1.6c0c88p-10f);
  p = fma(p, s, 0x1.55554ap-5f);
  const float half = 0.5f * s;
  const float y = 1.0f - half;  // the rounding errors of both go into the last addition
  const float square_low = fma(r, r, -s);
  return y + (1.0f - y - half + fma(s * s, p, fma(-r, low, -0.5f * square_low)));
}

/// The sine of an angle; its cosine is that of the angle one quarter on.
FEWBIT_HD inline float sine_of(const Angle& angle) {
  const float y = (angle.n & 1u) != 0u ? cosine_near_zero(angle.r, angle.low)
                                       : sine_near_zero(angle.r, angle.low);
  return (angle.n & 2u) != 0u ? -y : y;
}

//@ sin quarter_turns
/// Sine of radians, however large; within 0.9 ulp.
FEWBIT_HD inline float sin(float x) {
  return sine_of(angle_of(x));
}

//@ cos quarter_turns
/// Cosine of radians, however large; within 0.9 ulp.
FEWBIT_HD inline float cos(float x) {
  const Angle angle = angle_of(x);
  return sine_of({angle.r, angle.low, angle.n + 1u});
}

//@ atan fma
/// Arc tangent; within 1.5 ulp.
FEWBIT_HD inline float atan(float x) {
  const float a = std::fabs(x);
  const float t = a > 1.0f ? 1.0f / a : a;
  const float s = t * t;
  float p = -0x1.d78a36p-10f;  // (atan(t) - t) / t^3
  p = fma(p, s, 0x1.666fb2p-7f);
  p = fma(p, s, -0x1.ff9586p-6f);
  p = fma(p, s, 0x1.db31ap-5f);
  p = fma(p, s, -0x1.5854dp-4f);
  p = fma(p, s, 0x1.c0a5e4p-4f);
  p = fma(p, s, -0x1.2422f4p-3f);
  p = fma(p, s, 0x1.99921ep-3f);
  p = fma(p, s, -0x1.55554p-2f);
  const float tail = t * s * p;
  const float rest = 0x1.921fb6p+0f - t;  // its rounding error goes into the last subtraction
  const float low = 0x1.921fb6p+0f - rest - t - 0x1.777a5cp-25f;
  const float y = a > 1.0f ? rest + (low - tail) : t + tail;
  return x < 0.0f ? -y : y;
}

}  // namespace fewbit::generated::math
