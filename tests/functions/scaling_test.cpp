// Parameters change the mathematics: the laws that tie a function to its default.

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "functions/registry.hpp"
#include "tests/functions/every_function.hpp"

namespace fewbit::solver::scaling_test {

Derivative derivative(const std::string& function, double end) {
  return {expression_of(parse_function(function)), -end, end};
}

TEST(Celu, HasTheDerivativeOfItsDefaultAtXOverAlpha) {
  const Derivative unit = derivative("celu", 40);
  for (const double alpha : {0.25, 0.7, 3.0}) {
    const Derivative scaled = derivative("celu:alpha=" + std::to_string(alpha), 10);
    for (const double x : irregular_points(10, 500)) {
      EXPECT_NEAR(scaled.value(x), unit.value(x / alpha), 1e-14 * unit.value(x / alpha)) << x;
    }
  }
}

TEST(Softplus, HasTheSigmoidOfBetaXAsDerivative) {
  const Derivative sigmoid(Expression::parse("softplus(x)"), -40, 40);
  for (const double beta : {0.5, 2.0, 3.5}) {
    const Derivative scaled =
        derivative("softplus:beta=" + std::to_string(beta) + ",threshold=1000", 10);
    for (const double x : irregular_points(10, 500)) {
      EXPECT_NEAR(scaled.value(x), sigmoid.value(beta * x), 1e-14 * sigmoid.value(beta * x)) << x;
    }
  }
}

TEST(Softplus, IsLinearAboveItsThreshold) {
  const Derivative d = derivative("softplus:beta=2,threshold=5", 10);
  EXPECT_EQ(d.borders(), (std::vector<double>{-10, 2.5, 10}));
  EXPECT_EQ(d.value(2.6), 1.0);
  EXPECT_LT(d.value(2.5), 0.994);
}

TEST(Elu, HasAJumpAtZeroOfOneMinusAlpha) {
  const Derivative d = derivative("elu:alpha=0.5", 10);
  EXPECT_EQ(d.value(0.0), 0.5);
  EXPECT_EQ(d.value(0.0, 1), 1.0);
}

TEST(Swish, ScalesAsBetaX) {
  const Derivative unit = derivative("silu", 40);
  const Derivative scaled = derivative("swish:beta=2.5", 10);
  for (const double x : irregular_points(10, 500)) {
    EXPECT_NEAR(scaled.value(x), unit.value(2.5 * x), 3e-15) << x;
  }
}

}  // namespace fewbit::solver::scaling_test
