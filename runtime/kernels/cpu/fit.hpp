#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/values.hpp"

/// What fitting to a function needs.
namespace fewbit::kernels {

/// A function in double by its loop.
class Function {
 public:
  Function(ValueKernel<double>* value, const float* parameters)
      : value_(value), parameters_(parameters), at_(kBlock), result_(kBlock) {}

  double operator()(double x) {
    at_[0] = x;
    value_(at_.data(), result_.data(), parameters_);
    return result_[0];
  }

  /// f of up to kBlock points.
  std::vector<double> operator()(const std::vector<double>& x) {
    std::copy(x.begin(), x.end(), at_.begin());
    value_(at_.data(), result_.data(), parameters_);
    return {result_.begin(), result_.begin() + static_cast<std::ptrdiff_t>(x.size())};
  }

 private:
  ValueKernel<double>* value_;
  const float* parameters_;
  std::vector<double> at_;
  std::vector<double> result_;
};

/// What activation.hpp allows.
inline double allowed(double exact, double x) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::max(2.0 * ulp, 0x1p-24 * std::max(1.0, std::fabs(x)));
}

}  // namespace fewbit::kernels
