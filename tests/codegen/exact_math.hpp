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
/// Where the difference would cancel, (x cosh(x) - sinh(x)) / cosh(x), whose series does not.
inline double tanhshrink(double x) {
  if (std::fabs(x) > 1.0) return x - std::tanh(x);
  double power = x;  // x^(2k + 1) / (2k + 1)!
  double sum = 0.0;
  for (int k = 1; k < 12; ++k) {
    power *= x * x / (2 * k * (2 * k + 1));
    sum += 2 * k * power;
  }
  return sum / std::cosh(x);
}

}  // namespace fewbit::exact
