#include "search/segment_program.hpp"

#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "search/segment_cost.hpp"

namespace fewbit::solver::segment_program_test {
/// Borders of an axis of values: cell i holds a random mass at random values inside of it.
BorderSet random_borders(unsigned seed, size_t cells) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  BorderSet borders{{0.0, 0.0, {}}};
  for (size_t i = 0; i < cells; ++i) {
    const Border& last = borders.back();
    const double width = unit(random) + 0.01;
    const double mass = unit(random);
    const double value = last.position + width * unit(random);
    const double end = last.position + width;
    borders.push_back({end, end, last.prefix + Moments{mass, mass * value, mass * value * value}});
  }
  return borders;
}

template <class Cost>
double brute_force(const BorderSet& borders, size_t from, size_t segments) {
  if (segments == 1) return Cost::cost(borders[from], borders.back());
  double best = INFINITY;
  for (size_t cut = from; cut < borders.size(); ++cut) {
    best = std::min(best, Cost::cost(borders[from], borders[cut]) +
                              brute_force<Cost>(borders, cut, segments - 1));
  }
  return best;
}

/// All cuts on all borders; `monge` says that values ascend along the axis, which they do here.
template <class Cost>
SegmentProgram<Cost> program_on(const BorderSet& borders, size_t segments, bool monge) {
  IndexSet all(borders.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<IndexSet> sets(segments + 1, all);
  sets.front() = {0};
  sets.back() = {all.back()};
  SegmentProgram<Cost> program{borders, sets, [monge](double, double) { return monge; }};
  program.look_back();
  return program;
}

template <class Cost>
void expect_brute_force_optimum(unsigned seed, size_t cells, size_t segments) {
  const BorderSet borders = random_borders(seed, cells);
  const double expected = brute_force<Cost>(borders, 0, segments);
  const auto pruned = program_on<Cost>(borders, segments, false);
  const auto monge = program_on<Cost>(borders, segments, true);
  EXPECT_NEAR(pruned.best(), expected, 1e-12);
  EXPECT_NEAR(monge.best(), expected, 1e-12);
  for (size_t i = 0; segments > 1 && i < borders.size(); ++i) {
    EXPECT_NEAR(pruned.best_through(1, i), monge.best_through(1, i), 1e-12);
  }
}

TEST(SegmentProgram, MatchesBruteForceUpToTwelveCells) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    for (size_t segments = 1; segments <= 5; ++segments) {
      expect_brute_force_optimum<VarianceCost>(seed, 3 + seed % 10, segments);
      expect_brute_force_optimum<RoundingCost>(seed, 3 + seed % 10, segments);
    }
  }
}

TEST(SegmentProgram, ItsCutsAttainTheBestTotal) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const BorderSet borders = random_borders(seed, 60);
    const auto program = program_on<VarianceCost>(borders, 6, false);
    double total = 0.0;
    size_t left = 0;
    for (const double cut : program.cuts()) {
      size_t right = left;
      while (borders[right].position < cut) ++right;
      total += VarianceCost::cost(borders[left], borders[right]);
      left = right;
    }
    EXPECT_NEAR(total + VarianceCost::cost(borders[left], borders.back()), program.best(), 1e-12);
  }
}

TEST(SegmentProgram, BestThroughABorderIsTheCostOfCuttingThere) {
  const BorderSet borders = random_borders(7, 12);
  const auto program = program_on<VarianceCost>(borders, 2, false);
  for (size_t i = 0; i < borders.size(); ++i) {
    const double expected = VarianceCost::cost(borders.front(), borders[i]) +
                            VarianceCost::cost(borders[i], borders.back());
    EXPECT_NEAR(program.best_through(1, i), expected, 1e-12);
  }
}

TEST(SegmentCost, GrowsWithInclusion) {
  const BorderSet borders = random_borders(3, 50);
  for (size_t a = 0; a < borders.size(); ++a) {
    for (size_t b = a; b + 1 < borders.size(); ++b) {
      EXPECT_LE(VarianceCost::cost(borders[a], borders[b]),
                VarianceCost::cost(borders[a], borders[b + 1]) + 1e-12);
      EXPECT_LE(RoundingCost::cost(borders[a], borders[b]),
                RoundingCost::cost(borders[a], borders[b + 1]) + 1e-12);
    }
  }
}
}  // namespace fewbit::solver::segment_program_test
