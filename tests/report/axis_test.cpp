#include "report/axis.hpp"

#include <gtest/gtest.h>

namespace fewbit::solver::axis_test {

TEST(ChartAxis, LinearTicksAreRoundAndInside) {
  const std::vector<double> expected{-4, -2, 0, 2, 4};
  EXPECT_EQ(ChartAxis::linear(-4.3, 4.3, 0, 100).ticks(5), expected);
}

TEST(ChartAxis, TickOfZeroHasNoSign) {
  for (const double value : ChartAxis::linear(-0.1, 1.1, 0, 100).ticks(3)) {
    EXPECT_NE(tick_label(value), "-0");
  }
}

TEST(ChartAxis, LogarithmicAxisSpansWholeDecades) {
  const ChartAxis axis = ChartAxis::logarithmic(0.002, 0.3, 100, 0);
  EXPECT_DOUBLE_EQ(axis.pixel(0.001), 100);
  EXPECT_DOUBLE_EQ(axis.pixel(1.0), 0);
  EXPECT_EQ(axis.ticks(9).size(), 4U);
}

TEST(ChartAxis, OneValueStillHasLength) {
  const ChartAxis linear = ChartAxis::linear(2, 2, 0, 100);
  EXPECT_NEAR(linear.pixel(2), 50, 1e-9);
  EXPECT_EQ(ChartAxis::logarithmic(0.1, 0.1, 0, 100).ticks(3).size(), 2U);
}

}  // namespace fewbit::solver::axis_test
