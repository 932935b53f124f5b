#include "search/smoothed_pattern.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "search/smoothed_histogram.hpp"

namespace fewbit::solver::smoothed_pattern_test {
TEST(RemoveInterval, LetsNeighboursMeetInTheMiddle) {
  StepFunction step{{-1.0, 1.0, 2.0}, {0, 1, 2, 3}, {0.0, 0.1, 0.2, 0.3}};
  remove_interval(step, 1);
  EXPECT_EQ(step, (StepFunction{{0.0, 2.0}, {0, 1, 2}, {0.0, 0.2, 0.3}}));
}

TEST(RemoveInterval, JoinsNeighboursOfOneCode) {
  StepFunction step{{-1.0, 1.0, 2.0}, {0, 1, 0, 1}, {0.0, 0.1}};
  remove_interval(step, 1);
  EXPECT_EQ(step, (StepFunction{{2.0}, {0, 1}, {0.0, 0.1}}));
}

TEST(RemoveInterval, TakesOuterIntervals) {
  StepFunction step{{-1.0, 1.0, 2.0}, {1, 0, 1, 2}, {0.0, 0.1, 0.2}};
  remove_interval(step, 3);
  remove_interval(step, 0);
  EXPECT_EQ(step, (StepFunction{{1.0}, {0, 1}, {0.0, 0.1}}));
}

TEST(RemoveEvenInterval, TakesTheMirrorImageToo) {
  StepFunction step{{-3.0, -2.0, -1.0, 1.0, 2.0, 3.0}, {1, 0, 1, 2, 1, 0, 1}, {0.0, 0.1, 0.2}};
  remove_even_interval(step, 5);
  EXPECT_EQ(step, (StepFunction{{-1.0, 1.0}, {0, 1, 0}, {0.1, 0.2}}));
  EXPECT_TRUE(is_even(step));
}

TEST(RemoveEvenInterval, TakesTheMiddleOnce) {
  StepFunction step{{-3.0, -1.0, 1.0, 3.0}, {0, 1, 2, 1, 0}, {0.0, 0.1, 0.2}};
  remove_even_interval(step, 2);
  EXPECT_EQ(step, (StepFunction{{-3.0, 3.0}, {0, 1, 0}, {0.0, 0.1}}));
}

TEST(MakeCanonical, SortsLevelsAndKeepsTheFunction) {
  StepFunction step{{0.0, 1.0, 2.0}, {2, 0, 3, 2}, {0.5, 9.0, 0.1, 0.3}};
  make_canonical(step);
  EXPECT_EQ(step, (StepFunction{{0.0, 1.0, 2.0}, {0, 2, 1, 0}, {0.1, 0.3, 0.5}}));
}

TEST(MakeCanonical, JoinsIntervalsOfEqualLevels) {
  StepFunction step{{0.0, 1.0}, {0, 1, 2}, {0.1, 0.1, 0.5}};
  make_canonical(step);
  EXPECT_EQ(step, (StepFunction{{1.0}, {0, 1}, {0.1, 0.5}}));
}

TEST(IsEven, WantsExactPairsUnlessToldOtherwise) {
  const StepFunction step{{-1.0, 1.0 + 1e-12}, {0, 1, 0}, {0.0, 1.0}};
  EXPECT_FALSE(is_even(step));
  EXPECT_TRUE(is_even(step, 1e-9));
  EXPECT_FALSE(is_even({{-1.0, 1.0}, {0, 1, 2}, {0.0, 1.0, 2.0}}));
}

TEST(GaussPoints, HaveTheMomentsOfTheHistogram) {
  const std::vector<double> edges = {-1.0, -0.2, 0.1, 0.15, 2.0};
  const std::vector<double> masses = {0.3, 0.0, 0.5, 0.2};
  const auto points = gauss_points(edges, masses, 1.5);
  for (int power = 0; power <= 15; ++power) {
    double expected = 0.0;
    for (size_t i = 0; i < masses.size(); ++i) {
      expected += masses[i] * (std::pow(edges[i + 1], power + 1) - std::pow(edges[i], power + 1)) /
                  ((power + 1) * (edges[i + 1] - edges[i]));
    }
    double sum = 0.0;
    for (const MassPoint& point : points) sum += point.mass * std::pow(point.position, power);
    EXPECT_NEAR(sum, expected, 1e-12 * std::max(1.0, std::pow(2.0, power))) << power;
  }
  EXPECT_LE(points.size(), 16u);
}
}  // namespace fewbit::solver::smoothed_pattern_test
