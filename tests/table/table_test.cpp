#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "sample_table.hpp"

namespace fewbit::solver::table_test {
TEST(Table, BitsAreTheLeastThatHoldTheLevels) {
  Table table;
  const auto bits = [&](size_t levels) {
    table.levels.assign(levels, 0.0);
    return table.bits();
  };
  EXPECT_EQ(bits(1), 1);
  EXPECT_EQ(bits(2), 1);
  EXPECT_EQ(bits(3), 2);
  EXPECT_EQ(bits(4), 2);
  EXPECT_EQ(bits(5), 3);
  EXPECT_EQ(bits(128), 7);
  EXPECT_EQ(bits(129), 8);
  EXPECT_EQ(bits(256), 8);
}

TEST(Table, IntervalsAreOpenOnTheLeftAndClosedOnTheRight) {
  const Table table = sample_table();
  EXPECT_EQ(table.interval_of(-2.5), 0u);
  EXPECT_EQ(table.interval_of(std::nextafter(-2.5, 0.0)), 1u);
  EXPECT_EQ(table.interval_of(3.0), 3u);
  EXPECT_EQ(table.interval_of(std::numeric_limits<double>::infinity()), 4u);
  EXPECT_EQ(table.interval_of(-std::numeric_limits<double>::infinity()), 0u);
}

TEST(Table, NanFallsIntoTheFirstInterval) {
  EXPECT_EQ(sample_table().interval_of(std::numeric_limits<double>::quiet_NaN()), 0u);
}

TEST(Table, EvenSymmetryCutsTheAbsoluteValue) {
  Table table = sample_table();
  table.symmetry = Symmetry::even;
  table.thresholds = {0.5, 1.0, 2.0, 3.0};
  for (const double x : {0.0, 0.5, 0.7, 1.0, 2.5, 9.0}) {
    EXPECT_EQ(table.interval_of(x), table.interval_of(-x)) << x;
  }
  EXPECT_EQ(table.interval_of(-9.0), 4u);
}
}  // namespace fewbit::solver::table_test
