#include "weights/moments.hpp"

#include <algorithm>
#include <cmath>

#include "tests/weights/support.hpp"

namespace fewbit::solver {
namespace {

Moments moments_of(const std::vector<double>& samples, size_t block) {
  Moments moments;
  for (size_t i = 0; i < samples.size(); i += block) {
    moments.add(std::span(samples).subspan(i, std::min(block, samples.size() - i)));
  }
  return moments;
}

TEST(Moments, DoNotDependOnTheBlocks) {
  std::vector<double> samples;
  for (int i = 0; i < 1000; ++i) samples.push_back(std::sin(i * i));
  for (const size_t block : {1u, 7u, 256u, 1000u}) {
    const Moments moments = moments_of(samples, block);
    const Moments whole = moments_of(samples, 1000);
    EXPECT_EQ(moments.count(), 1000u);
    EXPECT_NEAR(moments.mean(), whole.mean(), 1e-15);
    EXPECT_NEAR(moments.spread(), whole.spread(), 1e-14);
    EXPECT_EQ(moments.least(), whole.least());
    EXPECT_EQ(moments.greatest(), whole.greatest());
  }
}

TEST(Moments, AreStableWithAnOffsetOfAMillion) {
  std::vector<double> samples;
  for (int i = 0; i < 100000; ++i) samples.push_back(1e6 + 1e-3 * (i % 5 - 2));
  for (const size_t block : {1u, 1000u}) {
    const Moments moments = moments_of(samples, block);
    EXPECT_NEAR(moments.mean(), 1e6, 1e-8);
    EXPECT_NEAR(moments.spread(), 1e-3 * std::sqrt(2.0), 1e-9);
  }
}

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

}  // namespace
}  // namespace fewbit::solver
