#include "weights/moments.hpp"

#include <algorithm>
#include <cmath>

#include "tests/weights/support.hpp"

namespace fewbit::solver::moments_test {
/// Units (columns) with the samples 1 and 3, -5 and -5, 10 and 14.
const SampleShape kTwoByThree = {2, 3, false};

TEST(UnitMoments, FollowColumnsInBothOrders) {
  UnitMoments rows(kTwoByThree);
  rows.add(std::vector<double>{1, -5, 10, 3});
  rows.add(std::vector<double>{-5, 14});
  UnitMoments columns({2, 3, true});
  columns.add(std::vector<double>{1, 3, -5, -5, 10, 14});
  const std::vector<UnitSpec> expected = {{2, 1, 1.0 / 3}, {-5, 0.25, 1.0 / 3}, {12, 2, 1.0 / 3}};
  EXPECT_EQ(rows.units(0.25), expected);
  EXPECT_EQ(columns.units(0.25), expected);
}

TEST(UnitMoments, NeedTwoSamplesEach) {
  UnitMoments moments({1, 3, false});
  moments.add(std::vector<double>{1, 2, 3});
  EXPECT_TRUE(moments.units(0.1).empty());
}

TEST(UnitMoments, GoOnInTheNextFile) {
  UnitMoments moments({3, 2, false});
  moments.begin({1, 2, false});
  moments.add(std::vector<double>{1, 7});
  moments.begin({2, 2, true});
  moments.add(std::vector<double>{2, 3, 7, 10});
  const std::vector<UnitSpec> expected = {{2, std::sqrt(2.0 / 3), 0.5}, {8, std::sqrt(2.0), 0.5}};
  const auto units = moments.units(0.1);
  ASSERT_EQ(units.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_DOUBLE_EQ(units[i].mean, expected[i].mean);
    EXPECT_DOUBLE_EQ(units[i].spread, expected[i].spread);
  }
}

/// Units with means 0, 1, ... and noise that repeats; as samples x units or the other way.
bool transposed(size_t rows, size_t columns, bool rows_are_units, double step) {
  UnitMoments moments({rows, columns, false});
  std::vector<double> block;
  unsigned noise = 1;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      noise = noise * 1664525u + 1013904223u;
      const auto unit = static_cast<double>(rows_are_units ? row : column);
      block.push_back(step * unit + static_cast<double>(noise >> 8) * 0x1p-24);
    }
  }
  moments.add(block);
  return moments.looks_transposed();
}

TEST(UnitMoments, TellWhenRowsDifferAsUnitsDo) {
  EXPECT_TRUE(transposed(20, 400, true, 0.1));
  EXPECT_FALSE(transposed(20, 400, false, 0.1)) << "many units of few samples";
  EXPECT_FALSE(transposed(400, 20, true, 0.1)) << "as many rows as samples have";
  EXPECT_FALSE(transposed(20, 400, true, 0.0)) << "nothing to tell them by";
  EXPECT_FALSE(transposed(2, 8, false, 0.0));
}

TEST(UnitMoments, JoinNeighboursBeyondTheLimit) {
  const size_t count = 2 * kMaxUnits;
  UnitMoments moments({2, count, true});
  for (size_t i = 0; i < count; ++i) {
    const auto mean = static_cast<double>((i * 977) % count);
    const double spread = (i * 977) % 2 == 0 ? 3.0 : 4.0;
    moments.add(std::vector<double>{mean - spread, mean + spread});
  }
  const auto units = moments.units(0.1);
  ASSERT_EQ(units.size(), kMaxUnits);
  EXPECT_EQ(units[0], (UnitSpec{0.5, std::sqrt(12.5), 2.0 / static_cast<double>(count)}));
  EXPECT_EQ(units.back().mean, static_cast<double>(count) - 1.5);
}
}  // namespace fewbit::solver::moments_test
