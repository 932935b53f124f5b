#include "table/rounding.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "sample_table.hpp"

namespace fewbit::solver::rounding_test {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double bf16_value(uint32_t bits) {
  return std::bit_cast<float>(bits << 16);
}

double fp16_value(uint32_t bits) {
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const int fraction = static_cast<int>(bits & 1023);
  if (exponent == 31) return fraction ? std::nan("") : sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double value_of(DataType dtype, uint32_t bits) {
  return dtype == DataType::bf16 ? bf16_value(bits) : fp16_value(bits);
}

class RoundDown : public testing::TestWithParam<DataType> {};

// A threshold is probed at every value of the type and just beside it; neighbours of the value
// decide, so the comparison over all 65,536 x follows from monotonicity. The second test below
// compares with every x directly.
TEST_P(RoundDown, IsTheLargestValueNotAboveAtEveryValueOfTheType) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const double v = value_of(GetParam(), bits);
    if (!std::isfinite(v)) continue;
    EXPECT_EQ(round_down(v, GetParam()), v);
    const double above = round_down(std::nextafter(v, kInfinity), GetParam());
    EXPECT_EQ(above, v);
    const double below = round_down(std::nextafter(v, -kInfinity), GetParam());
    EXPECT_LT(below, v);
    EXPECT_EQ(round_down((v + below) / 2, GetParam()), below);
  }
}

TEST_P(RoundDown, KeepsEveryComparison) {
  const double thresholds[] = {0.1,   -0.1,   1.0 / 3, -2.7182818, 1e-7,  -1e-7,     3e-8,   -3e-8,
                               1e-45, -1e-45, 65504,   65519.9,    7e4,   -65504.01, -1e39,  1e39,
                               1e300, -1e300, 0.0,     6e-5,       -6e-5, 1e-40,     -1e-40, 9.5};
  for (const double t : thresholds) {
    const double rounded = round_down(t, GetParam());
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const double x = value_of(GetParam(), bits);
      EXPECT_EQ(x > t, x > rounded) << t << ' ' << x;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SixteenBit, RoundDown, testing::Values(DataType::bf16, DataType::fp16));

TEST(RoundDown, Fp32AgreesWithTheConversionOfTheMachine) {
  uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double t = std::bit_cast<double>(state ^ (state >> 29));
    if (!std::isfinite(t)) continue;
    const float nearest = static_cast<float>(t);
    const float expected = static_cast<double>(nearest) > t
                               ? std::nextafter(nearest, -std::numeric_limits<float>::infinity())
                               : nearest;
    EXPECT_EQ(round_down(t, DataType::fp32), static_cast<double>(expected)) << t;
  }
}

TEST(RoundDown, ExactChangesNothing) {
  EXPECT_EQ(round_down(0.1, DataType::exact), 0.1);
}

TEST(RoundThresholds, KeepsTheLevelOfEveryValueOfTheType) {
  Table table = sample_table();
  table.thresholds = {-2.5003, -0.1, 1e-9, 3.0001};
  for (const DataType dtype : {DataType::bf16, DataType::fp16}) {
    const Table rounded = round_thresholds(table, dtype);
    EXPECT_EQ(rounded.problem.dtype, dtype);
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const double x = value_of(dtype, bits);
      if (std::isnan(x)) continue;
      const int before = table.codes[table.interval_of(x)];
      const int after = rounded.codes[rounded.interval_of(x)];
      EXPECT_EQ(rounded.levels[static_cast<size_t>(after)],
                table.levels[static_cast<size_t>(before)])
          << x;
    }
  }
}

TEST(RoundThresholds, DropsIntervalsWithoutValuesAndLevelsWithoutCodes) {
  Table table = sample_table();
  table.thresholds = {-2.5, 1.00001, 1.00002, 3.0};  // level 2 lies between two bf16 values
  const Table rounded = round_thresholds(table, DataType::bf16);
  EXPECT_EQ(rounded.thresholds, (std::vector<double>{-2.5, 3.0}));
  EXPECT_EQ(rounded.codes, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(rounded.levels, (std::vector<double>{0.1, 1.0 / 3.0}));
}

TEST(RoundThresholds, DropsAnIntervalBelowTheRangeOfTheType) {
  Table table = sample_table();
  table.thresholds = {-70000.0, -0.5, 0.5, 3.0};
  const Table rounded = round_thresholds(table, DataType::fp16);
  EXPECT_EQ(rounded.thresholds, (std::vector<double>{-0.5, 0.5, 3.0}));
  EXPECT_EQ(rounded.codes, (std::vector<int>{1, 2, 1, 0}));
}
}  // namespace fewbit::solver::rounding_test
