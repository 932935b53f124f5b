#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "smoothed_support.hpp"

namespace fewbit::solver::smoothed_search_test {
using namespace test;

double smallest_by_scan(const SmoothedCase& setting, double lo, double hi, int count) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= count; ++i) {
    StepFunction step = one_bit(lo + (hi - lo) * i / count);
    best = std::min(best, setting.objective.fit_levels(step));
  }
  return best;
}

TEST(MinimiseSmoothed, FindsTheBestThresholdThatADenseScanFinds) {
  for (const char* text :
       {"x*normcdf(x)", "x*sigmoid(x)", "x*tanh(log1p(exp(x)))", "log1p(exp(x))"}) {
    for (const double mean : {-0.5, 0.0, 0.8}) {
      const SmoothedCase setting(Expression::parse(text), normal(mean, 0.9));
      const double found = setting.objective.value(setting.minimise({one_bit(0.3)}, 2));
      const double scanned = smallest_by_scan(setting, -4.0, 4.0, 4000);
      EXPECT_LE(found, scanned * (1.0 + 1e-12)) << text << ' ' << mean;
      EXPECT_GE(found, scanned * (1.0 - 1e-3)) << text << ' ' << mean;
    }
  }
}

TEST(MinimiseSmoothed, FindsTheBestThreeIntervalsThatADenseScanFinds) {
  const SmoothedCase setting(gelu(), normal(0.0, 0.9));
  double scanned = std::numeric_limits<double>::infinity();
  for (int i = -30; i <= 30; ++i) {
    for (int j = i + 1; j <= 30; ++j) {
      StepFunction step{{0.05 * i, 0.05 * j}, {0, 1, 2}, {0.0, 0.5, 1.0}};
      scanned = std::min(scanned, setting.objective.fit_levels(step));
    }
  }
  const double found = setting.objective.value(setting.minimise({staircase(3, 1.0)}, 3));
  EXPECT_LE(found, scanned);
  EXPECT_GE(found, 0.95 * scanned);
}

TEST(MinimiseSmoothed, OneBitGeluIsTheTableOfTheDesignNotes) {
  const SmoothedCase setting(gelu(), normal(0.0, 0.9));
  const StepFunction best = setting.minimise({one_bit(0.2)}, 2);
  // Phi(x) + x phi(x) - 1/2 is odd, and so is the best step function minus 1/2.
  EXPECT_EQ(best.thresholds[0], 0.0);
  EXPECT_NEAR(best.levels[0], -0.0165, 1e-4);
  EXPECT_NEAR(best.levels[1], 1.0165, 1e-4);
}

TEST(MinimiseSmoothed, TwoBitGeluIsTheTableOfTheDesignNotes) {
  const SmoothedCase setting(gelu(), normal(0.0, 0.9));
  const StepFunction best = setting.minimise({staircase(4, 1.2)}, 4);
  const std::vector<double> thresholds = {-0.551, 0.0, 0.551};
  const std::vector<double> levels = {-0.0853, 0.3018, 0.6982, 1.0853};
  ASSERT_EQ(best.thresholds.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(best.thresholds[i], thresholds[i], 1e-3) << i;
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(best.levels[i], levels[i], 1e-3) << i;
}

// Few-Bit Backward's optimum for GELU with 2 bits: error .0406 under the uniform weight.
StepFunction paper_gelu() {
  return {{-0.469027, 0.0, 0.469027}, {0, 1, 2, 3}, {-0.015724, 0.319525, 0.680475, 1.015724}};
}

// Inputs as in the design notes: unit means around -0.2 with spread 0.5, scatter 0.75.
WeightSpec measured_inputs() {
  return normal(-0.2, std::sqrt(0.5 * 0.5 + 0.75 * 0.75));
}

TEST(MinimiseSmoothed, StartsFromTheBiasThatTheDesignNotesMeasured) {
  const SmoothedCase setting(gelu(), measured_inputs());
  EXPECT_NEAR(rms_smoothed_bias(paper_gelu(), setting.target), 0.022, 0.0005);
}

TEST(MinimiseSmoothed, LowersTheBiasTwentyTimesAndLeavesTheSquaredError) {
  const SmoothedCase setting(gelu(), measured_inputs());
  const StepFunction best = setting.minimise({paper_gelu()}, 4);
  EXPECT_LT(20.0 * rms_smoothed_bias(best, setting.target),
            rms_smoothed_bias(paper_gelu(), setting.target));
  EXPECT_LT(setting.squared_error(best), 1.1 * setting.squared_error(paper_gelu()));
}

TEST(MinimiseSmoothed, IsNeverAboveAnyStart) {
  const SmoothedCase setting(silu(), normal(0.3, 1.2));
  const std::vector<StepFunction> starts = {
      staircase(4, 1.0), {{-2.0, 0.0, 1.0, 2.5}, {1, 0, 1, 2, 3}, {-0.1, 0.2, 0.7, 1.1}}};
  const double found = setting.objective.value(setting.minimise(starts, 4));
  for (StepFunction start : starts) {
    EXPECT_LE(found, setting.objective.value(start));
    EXPECT_LE(found, setting.objective.fit_levels(start));
  }
}

TEST(MinimiseSmoothed, ReturnsTheSameTwice) {
  const SmoothedCase setting(silu(), mixture(0.5, 2.0));
  EXPECT_EQ(setting.minimise({staircase(4, 2.0)}, 4), setting.minimise({staircase(4, 2.0)}, 4));
}

TEST(MinimiseSmoothed, KeepsAStepFunctionThatIsExact) {
  const SmoothedCase setting(relu(), normal(0.0, 1.0));
  EXPECT_EQ(setting.minimise({one_bit(0.0)}, 2), one_bit(0.0));
}

TEST(MinimiseSmoothed, FindsTheKinkThatIsExact) {
  const SmoothedCase setting(relu(), normal(0.0, 1.0));
  const StepFunction best = setting.minimise({one_bit(0.4)}, 2);
  EXPECT_EQ(best.thresholds, std::vector<double>{0.0});
  EXPECT_LT(setting.objective.value(best), 1e-28);
}

TEST(MinimiseSmoothed, KeepsEvenStartsEven) {
  const SmoothedCase setting(hyperbolic_tangent(), normal(0.0, 1.0));
  const StepFunction start{{-1.2, -0.5, 0.5, 1.2}, {0, 1, 2, 1, 0}, {0.1, 0.5, 0.9}};
  const StepFunction best = setting.minimise({start}, 3);
  ASSERT_EQ(best.thresholds.size() % 2, 0u);
  for (size_t i = 0; i < best.thresholds.size(); ++i) {
    EXPECT_EQ(best.thresholds[i], -best.thresholds[best.thresholds.size() - 1 - i]);
    EXPECT_EQ(best.codes[i], best.codes[best.codes.size() - 1 - i]);
  }
}

TEST(MinimiseSmoothed, MovesEvenStartsWhereTheInputsAreNot) {
  const SmoothedCase setting(hyperbolic_tangent(), normal(0.7, 1.0));
  const StepFunction best = setting.minimise({{{-1.0, 1.0}, {0, 1, 0}, {0.1, 0.9}}}, 2);
  EXPECT_NE(best.thresholds.front(), -best.thresholds.back());
}

TEST(MinimiseSmoothed, NamesEveryLevelInAscendingOrder) {
  const SmoothedCase setting(gelu(), normal(0.0, 2.0));
  const StepFunction best = setting.minimise({staircase(8, 3.0)}, 8);
  EXPECT_TRUE(std::is_sorted(best.levels.begin(), best.levels.end()));
  for (int a = 0; a < static_cast<int>(best.levels.size()); ++a) {
    EXPECT_NE(std::find(best.codes.begin(), best.codes.end(), a), best.codes.end()) << a;
  }
  for (size_t i = 0; i + 1 < best.codes.size(); ++i) EXPECT_NE(best.codes[i], best.codes[i + 1]);
}

TEST(MinimiseSmoothed, IsStationaryInEveryThreshold) {
  const SmoothedCase setting(gelu(), normal(0.0, 1.0));
  StepFunction best = setting.minimise({staircase(8, 2.0)}, 8);
  const double value = setting.objective.fit_levels(best);
  for (double& threshold : best.thresholds) {
    for (const double shift : {-1e-3, 1e-3}) {
      threshold += shift;
      StepFunction moved = best;
      EXPECT_GT(setting.objective.fit_levels(moved), value);
      threshold -= shift;
    }
  }
}

TEST(MinimiseSmoothed, RejectsMalformedStarts) {
  const SmoothedCase setting(gelu(), normal(0.0, 1.0));
  EXPECT_THROW(setting.minimise({}, 2), Error);
  EXPECT_THROW(setting.minimise({staircase(4, 1.0)}, 2), Error);
  EXPECT_THROW(setting.minimise({{{0.5, -0.5}, {0, 1, 0}, {0.0, 1.0}}}, 2), Error);
  EXPECT_THROW(setting.minimise({{{0.5}, {0, 2}, {0.0, 1.0}}}, 2), Error);
  EXPECT_THROW(
      minimise_smoothed(setting.f, *setting.weight, {}, -1.0, setting.nodes, {one_bit(0.0)}, 2),
      Error);
}
}  // namespace fewbit::solver::smoothed_search_test
