// Viterbi's path against all paths there are, and what is said of the levels.
#include "trellis/trellis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace fewbit::solver::trellis_test {

using Values = std::vector<double>;

Values normal(size_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> draw;
  Values run(count);
  for (double& x : run) x = draw(engine);
  return run;
}

/// By the definition in the header.
Values decoded(const TrellisQuantizer& quantizer, const std::vector<int>& codes) {
  Values values;
  const auto bit = [&](size_t t, size_t before) { return before > t ? 0 : codes[t - before] & 1; };
  for (size_t t = 0; t < codes.size(); ++t) {
    const int subset = quantizer.states == 4 ? bit(t, 1) + 2 * (bit(t, 0) ^ bit(t, 2))
                                             : bit(t, 2) + 2 * (bit(t, 0) ^ bit(t, 1) ^ bit(t, 3));
    values.push_back(quantizer.levels[static_cast<size_t>(codes[t] / 2 * 4 + subset)]);
  }
  return values;
}

double squared_error(const Values& x, const Values& y) {
  double sum = 0.0;
  for (size_t i = 0; i < x.size(); ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}

double least_of_all(const TrellisQuantizer& quantizer, const Values& run) {
  const auto bits = static_cast<size_t>(quantizer.bits);
  double least = std::numeric_limits<double>::infinity();
  for (size_t all = 0; all < size_t{1} << bits * run.size(); ++all) {
    std::vector<int> codes;
    for (size_t t = 0; t < run.size(); ++t) {
      codes.push_back(static_cast<int>(all >> bits * t & ((size_t{1} << bits) - 1)));
    }
    least = std::min(least, squared_error(run, decoded(quantizer, codes)));
  }
  return least;
}

TrellisQuantizer evenly_spread(int bits, int states) {
  TrellisQuantizer quantizer{bits, states, {}, 0.0};
  const double count = 2 << bits;
  for (int j = 0; j < 2 << bits; ++j) quantizer.levels.push_back((j + 0.5 - count / 2) * 5 / count);
  return quantizer;
}

TEST(Trellis, PathIsTheBestOfAll) {
  for (const int states : {4, 8}) {
    for (int bits = 1; bits <= kMostTrellisBits; ++bits) {
      const TrellisQuantizer quantizer = evenly_spread(bits, states);
      for (uint32_t seed = 0; seed < 20; ++seed) {
        const Values run = normal(static_cast<size_t>(14 / bits), seed);
        const TrellisPath path = best_path(quantizer, run);
        EXPECT_EQ(decoded(quantizer, path.codes), path.values);
        EXPECT_NEAR(squared_error(run, path.values), least_of_all(quantizer, run), 1e-12);
      }
    }
  }
}

TEST(Trellis, FitsLevelsThatNoOneChangeBetters) {
  const TrellisQuantizer quantizer = fit_trellis(2, 4);
  ASSERT_EQ(quantizer.levels.size(), 8u);
  const auto error_of = [](const TrellisQuantizer& with) {
    double sum = 0.0;
    for (uint32_t seed = 0; seed < 200; ++seed) {
      const Values run = normal(kTrellisRun, seed);
      sum += squared_error(run, best_path(with, run).values);
    }
    return sum / 200 / kTrellisRun;
  };
  const double error = error_of(quantizer);
  EXPECT_NEAR(error, quantizer.error, 0.02 * error);
  // Between Shannon's bound and the best table of so many bits (Max).
  EXPECT_GT(error, 1.0 / 16);
  EXPECT_LT(error, 0.78 * 0.1175);
  for (size_t j = 0; j < 4; ++j) {
    for (const double change : {-0.06, 0.06}) {
      TrellisQuantizer other = quantizer;
      other.levels[j] -= change;
      other.levels[7 - j] += change;
      EXPECT_GT(error_of(other), error) << j << ", " << change;
    }
  }
}

// As published for doubled alphabets: 4.99 and 5.19 dB at 1 bit (Marcellin and Fischer, table I).
TEST(Trellis, HasThePublishedErrorOfOneBit) {
  EXPECT_NEAR(-10 * std::log10(fit_trellis(1, 4).error), 4.99, 0.03);
  EXPECT_NEAR(-10 * std::log10(fit_trellis(1, 8).error), 5.19, 0.05);
}

}  // namespace fewbit::solver::trellis_test
