#include "weights/sample_bins.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <rapidcheck.h>

#include "tests/weights/support.hpp"

namespace fewbit::solver::sample_bins_test {
using Numbers = std::vector<double>;

constexpr auto kStep = static_cast<double>(kMarkStep);

struct Sorted {
  Numbers samples;  ///< ascending
  std::vector<SampleCell> cells;
};

Sorted sort_all(Numbers samples) {
  SampleCells cells;
  do {
    for (size_t i = 0; i < samples.size(); i += 997) {
      cells.add(std::span(samples).subspan(i, std::min<size_t>(997, samples.size() - i)));
    }
  } while (cells.needs_another_pass());
  std::sort(samples.begin(), samples.end());
  return {std::move(samples), cells.cells()};
}

/// Normal clusters, heavy tails, repeated values, values of few digits, outliers at any magnitude.
Numbers nasty_samples(unsigned seed, size_t count) {
  std::mt19937_64 random(seed);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const double offset = unit() < 0.5 ? 0.0 : std::pow(10.0, 12.0 * unit() - 4.0);
  const double scale = std::pow(10.0, 8.0 * unit() - 4.0);
  const double heavy = unit();
  const double repeated = unit() < 0.5 ? 0.0 : unit();
  const double digits = unit() < 0.5 ? 0.0 : std::pow(2.0, std::floor(8.0 * unit()));
  const double mask = -std::pow(10.0, 20.0 * unit());
  Numbers samples(count);
  for (double& sample : samples) {
    const double spread = unit() - unit() + unit() - unit();
    sample = spread / std::pow(unit() + 1e-9, 2.0 * heavy);
    if (digits > 0.0) sample = std::round(sample * digits) / digits;
    sample = offset + scale * sample;
    if (unit() < 0.3 * repeated) sample = unit() < 0.5 ? 0.0 : mask;
    if (unit() < 1e-4) sample = std::pow(10.0, 175.0 * unit() - 75.0);
  }
  return samples;
}

/// Bin by bin: no heavier and no wider than `Fineness` lets it be.
void check_promises(const Sorted& sorted, const SampleBins& bins) {
  const Fineness fineness{bulk_of(sorted.cells), sorted.samples.size()};
  auto first = sorted.samples.begin();
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    const auto last = std::upper_bound(first, sorted.samples.end(), bins.edges[i + 1]);
    const auto count = static_cast<size_t>(last - first);
    RC_ASSERT(count == bins.counts[i]);
    RC_ASSERT(bins.edges[i + 1] - bins.edges[i] >= 1e-100);
    if (count == 0) continue;
    const double least = *first;
    const double greatest = *(last - 1);
    const auto before = static_cast<size_t>(first - sorted.samples.begin());
    const size_t rank = std::min(before + count, fineness.total - before);
    first = last;
    const double width = bins.edges[i + 1] - bins.edges[i];
    if (mark_of(least) == mark_of(greatest)) {
      // One number: its bin is as narrow as quadrature allows, 512 doubles up to the least of its
      // mark.
      const double gap = std::nextafter(std::fabs(least), 1e101) - std::fabs(least);
      RC_ASSERT(width <= std::max(2.0 * kStep * gap, 2e-80));
      RC_ASSERT(width >= 0.49 * kStep * gap);
      continue;
    }
    RC_ASSERT(static_cast<double>(count) <= fineness.most());
    // The slack on either side is at most a quarter of what the samples take.
    RC_ASSERT(greatest - least <= fineness.widest(least, greatest, rank));
    RC_ASSERT(width <= 1.5 * (greatest - least) + 2.0 * kStep * 0x1p-52 * std::fabs(greatest));
  }
  RC_ASSERT(first == sorted.samples.end());
}

TEST(SampleBins, KeepTheirPromisesForNastyData) {
  EXPECT_TRUE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<unsigned>();
    const auto count = *rc::gen::element<size_t>(3, 40, 1000, 5000, 60000);
    const Sorted sorted = sort_all(nasty_samples(seed, count));
    const double low = sorted.samples.front();
    const double high = sorted.samples.back();
    RC_PRE(high - low > 1e-10 * std::max(-low, high));
    const SampleBins bins = bins_of(sorted.cells, count);
    RC_ASSERT(bins.counts.size() <= kMostSampleBins);
    check_promises(sorted, bins);
  }));
}

TEST(SampleBins, AreAtMostFourThousandForDataOfEveryMagnitude) {
  std::mt19937_64 random(1);
  Numbers samples(200000);
  for (double& sample : samples) {
    const double exponent = static_cast<double>(random() >> 11) * 0x1p-53;
    sample = ((random() & 1) != 0 ? 1.0 : -1.0) * std::pow(10.0, 150.0 * exponent - 60.0);
  }
  const Sorted sorted = sort_all(samples);
  const SampleBins bins = bins_of(sorted.cells, samples.size());
  EXPECT_LE(bins.counts.size(), kMostSampleBins);
  EXPECT_GE(bins.counts.size(), kMostSampleBins / 4);
  for (const size_t count : bins.counts) EXPECT_LE(count, 8 * samples.size() / kSampleBins);
}

TEST(SampleCells, CountEverySampleOnceInOrder) {
  const Sorted sorted = sort_all(nasty_samples(5, 30000));
  size_t before = 0;
  for (const SampleCell& cell : sorted.cells) {
    EXPECT_EQ(cell.least, sorted.samples[before]);
    before += cell.count;
    EXPECT_EQ(cell.greatest, sorted.samples[before - 1]);
  }
  EXPECT_EQ(before, sorted.samples.size());
}

TEST(Marks, AreFiveHundredDoublesApart) {
  for (const double mark : {1.0, -1.0, 0.75, -3.0, double{0.1F}, 1e-80}) {
    const double up = mark_of(std::nextafter(mark, 1e9));
    EXPECT_EQ(up, mark_of(mark)) << mark;
    EXPECT_EQ(mark_of(below_mark(mark)), mark_of(below_mark(mark) - 1e-18 * std::fabs(mark)));
    EXPECT_LT(mark_of(below_mark(mark_of(mark))), mark_of(mark)) << "belongs to the mark below";
  }
  EXPECT_EQ(mark_of(double{-0.1F}), double{-0.1F});
  EXPECT_EQ(just_before(1.0), 1.0 - 512 * 0x1p-53);
  EXPECT_EQ(below_mark(-1.0), -1.0 - 256 * 0x1p-52);
  EXPECT_EQ(below_mark(1.0), 1.0 - 256 * 0x1p-53);
}

TEST(SampleCells, TakeNumbersNextToZeroForZero) {
  const Sorted sorted = sort_all({1e-90, -1e-300, 0.0, 1.0, -0.0});
  ASSERT_EQ(sorted.cells.size(), 2u);
  EXPECT_EQ(sorted.cells[0].greatest, 1e-90);
  EXPECT_EQ(sorted.cells[0].count, 4u);
}

TEST(Bulk, IsWhereMostSamplesAreNotWhereOneValueIsRepeated) {
  Numbers samples(12000, -1e9);
  for (int i = 0; i < 8000; ++i) samples.push_back(5.0 + i * 1e-3);
  const Bulk bulk = bulk_of(sort_all(samples).cells);
  EXPECT_NEAR(bulk.middle, 9.0, 2.1);
  EXPECT_NEAR(bulk.width, 4.0, 0.1);
}

TEST(SampleCells, FindQuantilesExactly) {
  const Numbers samples = nasty_samples(11, 50000);
  SampleCells cells(0.999);
  do {
    cells.add(samples);
  } while (cells.needs_another_pass());
  Numbers sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(cells.clipped_ends(), (Domain{sorted[50], sorted[50000 - 51]}));
}
}  // namespace fewbit::solver::sample_bins_test
