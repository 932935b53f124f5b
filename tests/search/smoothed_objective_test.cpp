#include <algorithm>
#include <cmath>

#include <Eigen/QR>
#include <gtest/gtest.h>

#include "smoothed_support.hpp"

namespace fewbit::solver::smoothed_objective_test {
using namespace test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A pattern with a repeated code, so that one level belongs to two intervals.
StepFunction pattern() {
  return {{-1.3, -0.45, 0.1, 0.8}, {1, 0, 1, 2, 3}, {-0.1, 0.2, 0.7, 1.1}};
}

double fitted_value(const SmoothedCase& setting, StepFunction step) {
  return setting.objective.fit_levels(step);
}

/// The same least squares problem written out: one row per node, one per point of a fine grid.
VectorXd levels_by_least_squares(const SmoothedCase& setting, const StepFunction& step) {
  const int grid = 20000;
  const auto nodes = static_cast<Index>(setting.nodes.size());
  const auto levels = static_cast<Index>(step.levels.size());
  MatrixXd rows = MatrixXd::Zero(nodes + grid, levels);
  VectorXd right = VectorXd::Zero(nodes + grid);
  for (Index j = 0; j < nodes; ++j) {
    const SmoothingNode& node = setting.nodes[static_cast<size_t>(j)];
    const double root = std::sqrt(node.mass);
    double below = 0.0;
    for (size_t i = 0; i < step.codes.size(); ++i) {
      const double upto = i < step.thresholds.size()
                              ? normal_cdf((step.thresholds[i] - node.mean) / node.spread)
                              : 1.0;
      rows(j, step.codes[i]) += root * (upto - below);
      below = upto;
    }
    right(j) = root * setting.target.values()[static_cast<size_t>(j)];
  }
  const double lo = setting.derivative.lo();
  const double cell = (setting.derivative.hi() - lo) / grid;
  for (Index i = 0; i < grid; ++i) {
    const double x = lo + (static_cast<double>(i) + 0.5) * cell;
    const auto interval = std::lower_bound(step.thresholds.begin(), step.thresholds.end(), x) -
                          step.thresholds.begin();
    const double root = std::sqrt(setting.lambda_used * setting.weight->density(x) * cell);
    rows(nodes + i, step.codes[static_cast<size_t>(interval)]) = root;
    right(nodes + i) = root * setting.derivative.value(x);
  }
  return rows.colPivHouseholderQr().solve(right);
}

TEST(SmoothedObjective, FitsLevelsAsDirectLeastSquaresDoes) {
  const SmoothedCase setting(gelu(), normal(0.0, 0.9));
  StepFunction step = pattern();
  setting.objective.fit_levels(step);
  const VectorXd expected = levels_by_least_squares(setting, step);
  for (Index a = 0; a < expected.size(); ++a) {
    // The grid misplaces thresholds by up to half a cell.
    EXPECT_NEAR(step.levels[static_cast<size_t>(a)], expected(a), 1e-4) << a;
  }
}

TEST(SmoothedObjective, HasNoBetterLevelsNextToTheFittedOnes) {
  const SmoothedCase setting(gelu(), normal(0.0, 0.9));
  StepFunction step = pattern();
  const double best = setting.objective.fit_levels(step);
  for (double& level : step.levels) {
    for (const double shift : {-1e-4, 1e-4}) {
      level += shift;
      EXPECT_GT(setting.objective.value(step), best);
      level -= shift;
    }
  }
}

TEST(SmoothedObjective, IsBiasPlusLambdaTimesSquaredError) {
  const SmoothedCase setting(gelu(), normal(0.0, 0.9));
  const StepFunction step = pattern();
  const double bias = rms_smoothed_bias(step, setting.target);
  double squared = 0.0;
  double below = setting.derivative.lo();
  for (size_t i = 0; i < step.codes.size(); ++i) {
    const double upto = i < step.thresholds.size() ? step.thresholds[i] : setting.derivative.hi();
    squared +=
        setting.moments.squared_error(below, upto, step.levels[static_cast<size_t>(step.codes[i])]);
    below = upto;
  }
  EXPECT_NEAR(setting.objective.value(step), bias * bias + kLambda * squared, 1e-15);
}

class Expansion : public testing::TestWithParam<std::pair<const char*, WeightSpec>> {};

TEST_P(Expansion, GradientEqualsFiniteDifferences) {
  const SmoothedCase setting(Expression::parse(GetParam().first), GetParam().second, 0.05);
  StepFunction step = pattern();
  setting.objective.fit_levels(step);
  const auto at = setting.objective.expand(step);
  const double h = 1e-4;
  for (size_t i = 0; i < step.thresholds.size(); ++i) {
    StepFunction left = step;
    StepFunction right = step;
    left.thresholds[i] -= h;
    right.thresholds[i] += h;
    const double slope = (fitted_value(setting, right) - fitted_value(setting, left)) / (2.0 * h);
    EXPECT_NEAR(at.gradient(static_cast<Index>(i)), slope, 1e-7) << i;
  }
}

TEST_P(Expansion, HessianEqualsFiniteDifferencesOfTheGradient) {
  const SmoothedCase setting(Expression::parse(GetParam().first), GetParam().second, 0.05);
  StepFunction step = pattern();
  setting.objective.fit_levels(step);
  const auto at = setting.objective.expand(step);
  const double h = 1e-4;
  for (size_t i = 0; i < step.thresholds.size(); ++i) {
    StepFunction left = step;
    StepFunction right = step;
    left.thresholds[i] -= h;
    right.thresholds[i] += h;
    setting.objective.fit_levels(left);
    setting.objective.fit_levels(right);
    const VectorXd column =
        (setting.objective.expand(right).gradient - setting.objective.expand(left).gradient) /
        (2.0 * h);
    const VectorXd off = column - at.hessian.col(static_cast<Index>(i));
    EXPECT_LT(off.cwiseAbs().maxCoeff(), 1e-6) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(SmoothedObjective, Expansion,
                         testing::Values(std::pair{"x*normcdf(x)", normal(0.0, 0.9)},
                                         std::pair{"x*sigmoid(x)", normal(0.4, 1.5)},
                                         std::pair{"x*normcdf(x)", mixture(0.25, 4.0)},
                                         std::pair{"tanh(x)", normal(0.0, 1.0)}));
}  // namespace fewbit::solver::smoothed_objective_test
