#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kernels/activation/cpu/values.hpp"

/// What fitting to a function needs.
namespace fewbit::kernels {

/// A function in double by its loop.
class Function {
 public:
  explicit Function(const DefaultFunction& function)
      : function_(function), at_(kBlock), result_(kBlock) {}

  double operator()(double x) {
    at_[0] = x;
    function_.value(at_.data(), result_.data(), function_.parameters);
    return result_[0];
  }

  /// f of up to kBlock points.
  std::vector<double> operator()(const std::vector<double>& x) {
    std::copy(x.begin(), x.end(), at_.begin());
    function_.value(at_.data(), result_.data(), function_.parameters);
    return {result_.begin(), result_.begin() + static_cast<std::ptrdiff_t>(x.size())};
  }

  /// Where f is not smooth, unless that is not known.
  std::span<const double> kinks() const {
    return {function_.kinks, static_cast<size_t>(std::max(function_.kink_count, 0))};
  }

 private:
  DefaultFunction function_;
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

/// Floats all over the line, at which a fit is held against its function: in every power of two
/// and, closer, up to 128; beside kinks; zero and the ends.
std::vector<float> telling_points(std::span<const double> kinks);

/// Whether fitted(x), a float, is f(x) for all telling points to `share` of what is allowed. Where
/// f leaves the floats it is infinite.
template <class Fitted>
bool holds_everywhere(Function& f, double share, const Fitted& fitted) {
  constexpr auto kLargest = static_cast<double>(std::numeric_limits<float>::max());
  const auto is_near = [&](float x, double exact) {
    const auto y = static_cast<double>(fitted(x));
    if (std::isnan(exact)) return std::isnan(y);
    if (y == exact || (std::fabs(exact) > kLargest && y == std::copysign(INFINITY, exact))) {
      return true;
    }
    return std::fabs(y - exact) <= share * allowed(exact, static_cast<double>(x));
  };
  const std::vector<float> points = telling_points(f.kinks());
  for (auto from = points.begin(); from != points.end();) {
    const auto to = from + std::min<std::ptrdiff_t>(kBlock, points.end() - from);
    const std::vector<double> exact = f(std::vector<double>(from, to));
    for (const double y : exact) {
      if (!is_near(*from++, y)) return false;
    }
  }
  return true;
}

}  // namespace fewbit::kernels
