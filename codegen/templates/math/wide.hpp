// What the values of double inputs take, by the library's functions.
#pragma once

#include "codegen/templates/math/basic.hpp"

namespace fewbit::generated::math {

//@ wide
/// The primitives for double: a few ulp, relative accuracy in the tails, no promise of the same
/// last digits on every machine.
namespace wide {

FEWBIT_HD inline double fma(double a, double b, double c) {
  return a * b + c;
}

FEWBIT_HD inline double exp(double x) {
  return std::exp(x);
}

FEWBIT_HD inline double expm1(double x) {
  return std::expm1(x);
}

FEWBIT_HD inline double log(double x) {
  return std::log(x);
}

FEWBIT_HD inline double log1p(double x) {
  return std::log1p(x);
}

FEWBIT_HD inline double tanh(double x) {
  return std::tanh(x);
}

/// Where the difference would cancel, x s / (s + 3 + s / (5 + s / (7 + ...))) with s = x^2, from
/// Lambert's continued fraction of tanh.
FEWBIT_HD inline double tanhshrink(double x) {
  if (!(std::fabs(x) < 1.0)) return x - std::tanh(x);
  const double s = x * x;
  double rest = 19.0;
  for (int odd = 17; odd > 2; odd -= 2) rest = odd + s / rest;
  return x * s / (s + rest);
}

FEWBIT_HD inline double sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

FEWBIT_HD inline double softplus(double x) {
  return (x > 0.0 ? x : 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

/// tanh(log(1 + e^x)) = (u^2 + 2u) / (u^2 + 2u + 2) with u = e^x, for positive x over u^2.
FEWBIT_HD inline double tanh_softplus(double x) {
  const double e = std::exp(-std::fabs(x));
  const double top = x < 0.0 ? e * (e + 2.0) : 1.0 + 2.0 * e;
  return top / (top + 2.0 * (x < 0.0 ? 1.0 : e * e));
}

FEWBIT_HD inline double erf(double x) {
  return std::erf(x);
}

FEWBIT_HD inline double normcdf(double x) {
  return 0.5 * std::erfc(-0x1.6a09e667f3bcdp-1 * x);
}

FEWBIT_HD inline double normpdf(double x) {
  return 0x1.9884533d43651p-2 * std::exp(-0.5 * x * x);
}

}  // namespace wide

}  // namespace fewbit::generated::math
