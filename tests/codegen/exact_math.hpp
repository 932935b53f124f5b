#pragma once

#include <algorithm>
#include <cmath>

/// What the primitives are compared with, in double.
namespace fewbit::exact {

inline double sigmoid(double x) {
  return x < 0.0 ? std::exp(x) / (1.0 + std::exp(x)) : 1.0 / (1.0 + std::exp(-x));
}
inline double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}
inline double sech2(double x) {
  return std::pow(std::cosh(x), -2.0);
}
inline double normcdf(double x) {
  return 0.5 * std::erfc(-x * 0.70710678118654752440);
}
inline double gauss(double x) {
  return std::exp(-0.5 * x * x);
}
inline double normpdf(double x) {
  return 0.39894228040143268 * gauss(x);
}
inline double gelu(double x) {
  return x * normcdf(x);
}
inline double tanh_softplus(double x) {
  return std::tanh(softplus(x));
}
/// As a series where it would cancel.
inline double tanhshrink(double x) {
  const double s = x * x;
  if (std::fabs(x) > 0.03) return x - std::tanh(x);
  return x * s * (1.0 / 3 - s * (2.0 / 15 - s * (17.0 / 315 - s * 62.0 / 2835)));
}

}  // namespace fewbit::exact
