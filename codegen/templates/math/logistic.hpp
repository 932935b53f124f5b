// Sigmoid, its slope, softplus.
#pragma once

#include "codegen/templates/math/exp.hpp"
#include "codegen/templates/math/log.hpp"

namespace fewbit::generated::math {

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
/// log(1 + e^x) without overflow; within 1.2 ulp.
FEWBIT_HD inline float softplus(float x) {
  const ExpParts parts = exp_parts(-std::fabs(x), 0.0f);
  const float e = times_power_of_two(parts.y, parts.n);
  // What e was rounded by, over 1 + e, which is 0.96 - 0.47 e to 5 %.
  const float rest = times_power_of_two(parts.rest, parts.n) * fma(-0.47f, e, 0.96f);
  return (x > 0.0f ? x : 0.0f) + log1p_sum(e, rest);
}

}  // namespace fewbit::generated::math
