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

/// By its series near zero, where the difference would cancel; 1e-14 of it beyond.
FEWBIT_HD inline double tanhshrink(double x) {
  if (!(std::fabs(x) < 0.2)) return x - std::tanh(x);
  const double s = x * x;
  double p = 443861162.0 / 1856156927625.0;
  p = 6404582.0 / 10854718875.0 - s * p;
  p = 929569.0 / 638512875.0 - s * p;
  p = 21844.0 / 6081075.0 - s * p;
  p = 1382.0 / 155925.0 - s * p;
  p = 62.0 / 2835.0 - s * p;
  p = 17.0 / 315.0 - s * p;
  p = 2.0 / 15.0 - s * p;
  return x * s * (1.0 / 3.0 - s * p);
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
