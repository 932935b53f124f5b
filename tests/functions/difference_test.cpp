// Differences of f in 50 digits: an oracle that knows no rule of differentiation.

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "tests/expression/reference.hpp"
#include "tests/functions/every_function.hpp"

namespace fewbit::solver::difference_test {

/// 1 + tanh and 1 - tanh' cancel: there the error is one of rounding of 1.
double floor_of(const std::string& name) {
  return name == "gelu_tanh" || name == "tanhshrink" ? 1.0 : 0.0;
}

TEST(Derivative, IsTheLimitOfCentralDifferencesAlsoInTheTails) {
  const Wide h("1e-15");
  for (const std::string& name : every_function()) {
    const Expression f = expression_of(parse_function(name));
    const Derivative d(f, -36, 36);
    for (const double x : irregular_points(36, 200)) {
      const Wide left = reference(f, Wide(x - h));
      const Wide middle = reference(f, Wide(x));
      const Wide right = reference(f, Wide(x + h));
      const Wide first = (right - left) / (2 * h);
      const Wide second = (right - 2 * middle + left) / (h * h);
      // Rounding of the differences themselves: relative for gelu, whose tail has no sum in it.
      const Wide rounded = name == "gelu" ? abs(middle) : 1 + abs(middle);
      const auto blur = static_cast<double>(rounded) * 1e-48;
      const auto scale = static_cast<double>(abs(first) + abs(x * second)) + floor_of(name);
      EXPECT_NEAR(d.value(x), static_cast<double>(first), 1e-15 * scale + blur * 1e15)
          << name << " at " << x;
      const auto bend = static_cast<double>((1 + x * x) * abs(second) + abs(first)) +
                        floor_of(name) * (1.0 + std::abs(x));
      EXPECT_NEAR(d.slope(x), static_cast<double>(second), 1e-15 * bend + blur * 1e30)
          << name << " at " << x;
    }
  }
}

}  // namespace fewbit::solver::difference_test
