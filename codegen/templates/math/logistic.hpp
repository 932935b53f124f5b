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
/// log(1 + e^x) without overflow; within 2 ulp.
FEWBIT_HD inline float softplus(float x) {
  return (x > 0.0f ? x : 0.0f) + log1p(exp(-std::fabs(x)));
}

}  // namespace fewbit::generated::math
