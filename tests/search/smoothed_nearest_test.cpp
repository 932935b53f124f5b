#include "search/smoothed_nearest.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "smoothed_support.hpp"

namespace fewbit::solver::smoothed_nearest_test {
using namespace test;

double level_at(const StepFunction& step, double x) {
  const auto interval =
      std::lower_bound(step.thresholds.begin(), step.thresholds.end(), x) - step.thresholds.begin();
  return step.levels[static_cast<size_t>(step.codes[static_cast<size_t>(interval)])];
}

TEST(NearestLevels, GiveEveryXTheLevelNearestToItsSlope) {
  const std::vector<double> levels = {-0.1, 0.02, 0.3, 0.5, 0.99, 1.1};
  for (const char* text : {"x*normcdf(x)", "x*sigmoid(x)", "tanh(x)", "max(x, 0)"}) {
    const Derivative derivative(Expression::parse(text), -6.0, 7.0);
    const StepFunction step = nearest_levels(derivative, levels);
    for (int i = 1; i < 1300; ++i) {
      const double x = -6.0 + 0.01 * i + 0.0037;
      const double slope = derivative.value(x);
      double least = 1e9;
      for (const double level : levels) least = std::min(least, std::abs(level - slope));
      EXPECT_LE(std::abs(level_at(step, x) - slope), least + 1e-9) << text << " at " << x;
    }
  }
}

TEST(NearestLevels, OfGeluComeBackFromItsOvershoot) {
  const Derivative derivative(gelu(), -10.0, 10.0);
  const StepFunction step = nearest_levels(derivative, {-0.1, 0.0, 0.5, 1.0, 1.1});
  EXPECT_EQ(step.codes, (std::vector<int>{1, 0, 1, 2, 3, 4, 3}));
  EXPECT_TRUE(std::is_sorted(step.thresholds.begin(), step.thresholds.end()));
}

TEST(NearestLevels, StepWhereTheSlopeJumps) {
  const Derivative derivative(relu(), -1.0, 1.0);
  const StepFunction step = nearest_levels(derivative, {0.1, 0.4, 0.7});
  EXPECT_EQ(step.thresholds, std::vector<double>{0.0});
  EXPECT_EQ(step.codes, (std::vector<int>{0, 2}));
}
}  // namespace fewbit::solver::smoothed_nearest_test
