#include "verify/bias.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "slow_table.hpp"

namespace fewbit::solver::bias_test {
constexpr double kTau = 0.83;

/// relu whose levels are 0.1 off on either side: b(m, s) = 0.1 (1 - 2 Phi(m / s)).
Table blunt_relu(const WeightSpec& weight) {
  Table table;
  table.problem = make_problem("max(x, 0)", Form::levels, 2, weight);
  table.thresholds = {0.0};
  table.codes = {0, 1};
  table.levels = {0.1, 0.9};
  return table;
}

double blunt_bias(double mean, double spread) {
  return 0.1 * std::erf(mean / spread / std::numbers::sqrt2);
}

// For normal x and y of correlation c, the mean of sign x sign y is (2 / pi) asin c.
TEST(Bias, OfABluntReluHasAClosedForm) {
  const double expected = 0.1 * std::sqrt(2.0 / std::numbers::pi * std::asin(1.0 - kTau * kTau));
  EXPECT_NEAR(recompute_bias(blunt_relu(normal_weight(0, 1))), expected, 1e-15);
  EXPECT_NEAR(recompute_bias(blunt_relu(normal_weight(0, 3))), expected, 1e-15);
  EXPECT_NEAR(recompute_bias(blunt_relu({})), expected, 1e-15);  // uniform: as N(0, 1)
  const WeightSpec mixture = {"mixture", {{"sigma_min", 0.25}, {"sigma_max", 4}}, {}, {}, {}};
  EXPECT_NEAR(recompute_bias(blunt_relu(mixture)), expected, 1e-15);
  const WeightSpec laplace = {"laplace", {{"mean", 0}, {"scale", 0.5}}, {}, {}, {}};
  EXPECT_NEAR(recompute_bias(blunt_relu(laplace)), expected, 1e-15);
  // With 2 degrees there is no second moment: as N(0, 1) too.
  for (const double degrees : {2.0, 5.0, 40.0, 1e6}) {
    const WeightSpec student = {
        "student-t", {{"mean", 0}, {"scale", 2}, {"degrees", degrees}}, {}, {}, {}};
    EXPECT_NEAR(recompute_bias(blunt_relu(student)), expected, 1e-15) << degrees;
  }
}

TEST(Bias, FollowsTheObjectivesTau) {
  Table table = blunt_relu(normal_weight(0, 1));
  table.problem.objective = {true, 0.5, 1e-3};
  const double expected = 0.1 * std::sqrt(2.0 / std::numbers::pi * std::asin(0.75));
  EXPECT_NEAR(recompute_bias(table), expected, 1e-15);
}

TEST(Bias, IsTheRootMeanSquareOverTheUnitsOfAHistogram) {
  const WeightSpec weight = {
      "histogram", {}, {-2, 0, 2}, {0.5, 0.5}, {{-0.3, 0.5, 0.25}, {0.4, 0.7, 0.75}}};
  const double first = blunt_bias(-0.3, 0.5);
  const double second = blunt_bias(0.4, 0.7);
  EXPECT_NEAR(recompute_bias(blunt_relu(weight)),
              std::sqrt(0.25 * first * first + 0.75 * second * second), 1e-15);
}

TEST(Bias, OfAHistogramLikeANormalIsNearTheNormals) {
  WeightSpec weight = {"histogram", {}, {}, {}, {}};
  for (int i = 0; i <= 400; ++i) weight.edges.push_back(-5.0 + 0.025 * i);
  for (int i = 0; i < 400; ++i) {
    const double middle = (weight.edges[static_cast<size_t>(i)] + 0.0125) / std::numbers::sqrt2;
    weight.masses.push_back(std::exp(-middle * middle));
  }
  EXPECT_NEAR(recompute_bias(blunt_relu(weight)), recompute_bias(blunt_relu(normal_weight(0, 1))),
              1e-5);
}

TEST(Bias, VanishesWithoutErrorAndForUnbiasedTablesThatCoverTheRange) {
  Table table = blunt_relu(normal_weight(0, 1));
  table.levels = {0.0, 1.0};
  EXPECT_EQ(recompute_bias(table), 0.0);
  table.problem = make_problem("x*normcdf(x)", Form::unbiased, 2, normal_weight(0, 1));
  table.thresholds.clear();
  table.codes.clear();
  table.levels = {-0.2, 1.2};
  EXPECT_EQ(recompute_bias(table), 0.0);
}
}  // namespace fewbit::solver::bias_test
