#include "weights/histogram.hpp"

#include <algorithm>
#include <limits>

#include <rapidcheck.h>

#include "tests/weights/support.hpp"
#include "weights/edge_index.hpp"

namespace fewbit::solver::histogram_test {
using Numbers = std::vector<double>;

TEST(HistogramWeight, IsMassOverWidthInEachBin) {
  const auto weight = make_weight(histogram_spec({-1.0, 0.0, 4.0}, {0.75, 0.25}));
  EXPECT_EQ(weight->density(-0.5), 0.75);
  EXPECT_EQ(weight->density(1.0), 0.0625);
  EXPECT_EQ(weight->density(-1.01), 0.0);
  EXPECT_EQ(weight->density(4.01), 0.0);
}

TEST(HistogramWeight, BinsAreOpenOnTheLeftAndClosedOnTheRight) {
  const auto weight = make_weight(histogram_spec({-1.0, 0.0, 4.0}, {0.75, 0.25}));
  EXPECT_EQ(weight->density(0.0), 0.75);
  EXPECT_EQ(weight->density(4.0), 0.0625);
}

TEST(HistogramWeight, TakesCountsForMasses) {
  const auto weight = make_weight(histogram_spec({0.0, 1.0, 2.0}, {30.0, 10.0}));
  EXPECT_EQ(weight->density(0.5), 0.75);
}

TEST(HistogramWeight, CutsEmptyBinsAtBothEnds) {
  const auto weight = make_weight(histogram_spec({0, 1, 2, 3, 4, 5}, {0, 1, 0, 1, 0}));
  EXPECT_EQ(weight->support().lo, 1.0);
  EXPECT_EQ(weight->support().hi, 4.0);
  EXPECT_EQ(weight->breaks(), Numbers({2.0, 3.0}));
}

TEST(HistogramWeight, BreaksOnlyWhereTheDensityJumps) {
  const auto weight = make_weight(histogram_spec({0, 1, 2, 4, 5}, {1, 1, 2, 3}));
  EXPECT_EQ(weight->breaks(), Numbers({4.0}));
}

TEST(HistogramWeight, IsEvenWhereEdgesAndMassesAre) {
  EXPECT_TRUE(make_weight(histogram_spec({-2, -1, 1, 2}, {1, 3, 1}))->is_even());
  EXPECT_FALSE(make_weight(histogram_spec({-2, -1, 1, 2}, {1, 3, 2}))->is_even());
  EXPECT_FALSE(make_weight(histogram_spec({-2, -1, 1, 3}, {1, 3, 1}))->is_even());
}

TEST(HistogramWeight, ScaleIsTheTypicalBinWidth) {
  EXPECT_EQ(make_weight(histogram_spec({-64, 0, 1, 2, 3, 64}, {1, 1, 1, 1, 1}))->scale(), 1.0);
  // Neither bins as narrow as doubles allow nor the way to an outlier are typical.
  EXPECT_DOUBLE_EQ(make_weight(histogram_spec({0, 1e-99, 1, 1 + 1e-15, 2, 2 + 1e-15, 1e9, 2e9},
                                              {3, 0, 3, 0, 3, 0, 1}))
                       ->scale(),
                   0.4);
  EXPECT_EQ(make_weight(histogram_spec({0, 1e-99, 1, 2}, {8, 0, 2}))->scale(), 2.0 / 3.0);
}

TEST(Tidying, JoinsNeighbouringEmptyBins) {
  Numbers edges = {0, 1, 2, 3, 4, 5};
  Numbers masses = {2, 0, 0, 0, 6};
  tidy_histogram(edges, masses);
  EXPECT_EQ(edges, Numbers({0, 1, 4, 5}));
  EXPECT_EQ(masses, Numbers({0.25, 0.0, 0.75}));
}

TEST(EdgeIndex, AgreesWithALinearSearch) {
  EXPECT_TRUE(rc::check([] {
    auto numbers =
        *rc::gen::suchThat(rc::gen::container<std::vector<int>>(rc::gen::inRange(-99, 99)),
                           [](const auto& all) { return all.size() > 3; });
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    RC_PRE(numbers.size() > 1u);
    const Numbers edges(numbers.begin(), numbers.end());
    const EdgeIndex index(edges);
    for (double x = edges.front(); x <= edges.back(); x += 0.25) {
      const size_t bin = index.bin_of(x);
      RC_ASSERT(bin + 1 < edges.size());
      RC_ASSERT(x <= edges[bin + 1]);
      RC_ASSERT(edges[bin] < x || (bin == 0 && x == edges[0]));
    }
  }));
}
TEST(Histogram, HasOneDensityBetweenNeighbouringDoubles) {
  const double below = std::nextafter(1.0, 0.0);
  const double above = std::nextafter(1.0, 2.0);
  const std::shared_ptr<const Weight> weight =
      make_weight(histogram_spec({-1, 0, 1, 2}, {1, 2, 3}));
  EXPECT_EQ(weight->density_between(below, 1.0), weight->density(0.5));
  EXPECT_EQ(weight->density_between(1.0, above), weight->density(1.5));
  EXPECT_EQ(weight->density_between(2.0, 3.0), 0.0);
  EXPECT_EQ(weight->density_between(-3.0, -1.0), 0.0);
  const auto folded = fold_weight(weight);
  EXPECT_EQ(folded->density_between(below, 1.0), weight->density(0.5) + weight->density(-0.5));
  EXPECT_EQ(folded->density_between(1.0, above), weight->density(1.5));
}

}  // namespace fewbit::solver::histogram_test
