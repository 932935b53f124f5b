// The slope of softsign.
#pragma once

#include "codegen/templates/math/basic.hpp"

namespace fewbit::generated::math {

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

}  // namespace fewbit::generated::math
