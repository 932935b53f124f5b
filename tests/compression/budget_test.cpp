// Bits for places: against every split there is, and what a budget promises.
#include "compression/allocation/budget.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace fewbit::session::compression_budget_test {

const std::vector<double> kRotated = {.571, .133, .0358, .0096, .0025, .00065, .00016, .00004};

double cost(const std::vector<Demand>& demands, const std::vector<int>& bits) {
  double sum = 0.0;
  for (size_t i = 0; i < demands.size(); ++i) {
    sum += demands[i].elements * demands[i].weight *
           demands[i].error[static_cast<size_t>(bits[i]) - 1];
  }
  return sum;
}

double spent(const std::vector<Demand>& demands, const std::vector<int>& bits) {
  double sum = 0.0;
  for (size_t i = 0; i < demands.size(); ++i) sum += demands[i].elements * bits[i];
  return sum;
}

/// With what comes of them.
double elements(const std::vector<Demand>& demands) {
  double sum = 0.0;
  for (const Demand& demand : demands) sum += demand.elements + demand.recomputed;
  return sum;
}

/// The least cost of all splits.
double least(const std::vector<Demand>& demands, double average) {
  double best = 1e300;
  std::vector<int> bits(demands.size(), 1);
  while (true) {
    if (spent(demands, bits) <= average * elements(demands)) {
      best = std::min(best, cost(demands, bits));
    }
    size_t i = 0;
    while (i < bits.size() && bits[i] == 8) bits[i++] = 1;
    if (i == bits.size()) return best;
    ++bits[i];
  }
}

TEST(SplitBits, EqualSitesShareEqually) {
  const std::vector<Demand> demands(8, {100.0, 1.0, kRotated});
  EXPECT_EQ(split_bits(demands, 2.0).bits, std::vector<int>(8, 2));
  EXPECT_EQ(spent(demands, split_bits(demands, 1.5).bits), 1.5 * 800);
}

TEST(SplitBits, WeightBuysBits) {
  std::vector<Demand> demands(2, {100.0, 1.0, kRotated});
  demands[1].weight = 16.0;
  EXPECT_EQ(split_bits(demands, 3.0).bits, (std::vector<int>{2, 4}));
}

TEST(SplitBits, WhatIsFixedStays) {
  std::vector<Demand> demands(3, {100.0, 1.0, kRotated});
  demands[0].fixed = 6;
  EXPECT_EQ(split_bits(demands, 3.0).bits, (std::vector<int>{6, 2, 1}));
}

// Their bits go to those that they come of, and beyond to whoever gains most.
TEST(SplitBits, WhatIsRecomputedAddsItsBits) {
  std::vector<Demand> demands(2, {100.0, 1.0, kRotated});
  demands[0].recomputed = 200.0;
  EXPECT_EQ(split_bits(demands, 2.0).bits, (std::vector<int>{4, 4}));
  demands[0].weight = 16.0;
  EXPECT_EQ(split_bits(demands, 2.0).bits, (std::vector<int>{5, 3}));
}

// Of few places against every split there is.
TEST(SplitBits, IsTheBestSplit) {
  std::mt19937 engine(1);
  for (int round = 0; round < 40; ++round) {
    const bool is_even = round % 2 == 0;
    std::vector<Demand> demands;
    for (int i = 0; i < 4; ++i) {
      const double count = is_even ? 10.0 : std::uniform_real_distribution<>(1, 20)(engine);
      const double weight = std::exp(std::uniform_real_distribution<>(-3, 3)(engine));
      demands.push_back({count, weight, kRotated});
      if (round % 3 == 0) demands.back().recomputed = count * i;
    }
    const double average = std::uniform_int_distribution<>(4, 24)(engine) / 4.0;
    const BitSplit split = split_bits(demands, average);
    EXPECT_LE(spent(demands, split.bits), average * elements(demands) + 1e-9);
    EXPECT_NEAR(split.loss, cost(demands, split.bits), 1e-9 * split.loss);
    EXPECT_NEAR(split.loss, least(demands, average), 1e-9 * split.loss) << round;
    EXPECT_LE(split.bound, split.loss * (1 + 1e-12));
  }
}

/// Places as networks have them, of whole units of memory: few sizes or many, weights far apart,
/// errors that fall evenly or not, and some widths that are missing.
std::vector<Demand> drawn(std::mt19937& engine) {
  const auto below = [&](int count) { return std::uniform_int_distribution<>(0, count)(engine); };
  const int count = std::array{30, 60, 160, 300}[static_cast<size_t>(below(3))];
  const int largest = std::array{1, 3, 16}[static_cast<size_t>(below(2))];
  const double spread = std::array{0.0, 0.5, 2.0}[static_cast<size_t>(below(2))];
  const int shape = below(2);
  std::lognormal_distribution<> weight(0.0, spread);
  std::uniform_real_distribution<> uneven(0.05, 1.0);
  std::vector<Demand> demands;
  for (int i = 0; i < count; ++i) {
    Demand demand{1.0 + below(largest - 1), weight(engine), kRotated};
    if (shape > 0) {
      for (size_t b = 1; b < demand.error.size(); ++b) {
        demand.error[b] = demand.error[b - 1] * uneven(engine);
      }
    }
    if (shape > 1) {  // 1, 2, 4 and 8 bits alone
      for (const size_t bits : {3, 5, 6, 7}) demand.error[bits - 1] = demand.error[bits - 2];
    }
    if (below(9) == 0) demand.fixed = 1 + below(7);
    if (below(4) == 0) demand.recomputed = below(8);
    demands.push_back(std::move(demand));
  }
  return demands;
}

/// The least loss for every number of bits beyond the fewest, by dynamic programming.
std::vector<double> least_losses(const std::vector<Demand>& demands, int most) {
  std::vector<double> least(static_cast<size_t>(most) + 1, 0.0);
  for (const Demand& demand : demands) {
    const auto loss = [&](int bits) {
      return demand.elements * demand.weight * demand.error[static_cast<size_t>(bits) - 1];
    };
    const int first = std::max(demand.fixed, 1);
    std::vector<double> next(least.size(), 1e300);
    for (int bits = first; bits <= (demand.fixed > 0 ? first : 8); ++bits) {
      const auto cost = static_cast<size_t>(demand.elements) * static_cast<size_t>(bits - first);
      for (size_t left = cost; left < least.size(); ++left) {
        next[left] = std::min(next[left], least[left - cost] + loss(bits));
      }
    }
    least = std::move(next);
  }
  return least;
}

// Of 30 to 300 places against dynamic programming; --gtest_shuffle --gtest_repeat draws others.
TEST(SplitBits, IsTheBestSplitOfManySites) {
  std::mt19937 engine(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()));
  double worst = 0.0;
  for (int round = 0; round < 60; ++round) {
    const std::vector<Demand> demands = drawn(engine);
    double fewest = 0.0, most = 0.0;
    for (const Demand& demand : demands) {
      fewest += demand.elements * std::max(demand.fixed, 1);
      most += demand.elements * 8;
    }
    const std::vector<double> best = least_losses(demands, static_cast<int>(most - fewest));
    double before = 1e300;
    for (double average = 1.0; average < 6.0; average += 0.37) {
      const BitSplit split = split_bits(demands, average);
      const double left = average * elements(demands) * (1 + 1e-12) - fewest;
      EXPECT_LE(spent(demands, split.bits), fewest + std::max(left, 0.0) + 1e-9);
      const auto index = static_cast<size_t>(std::clamp(left, 0.0, most - fewest));
      EXPECT_GE(split.loss, best[index] * (1 - 1e-9));
      EXPECT_LE(split.bound, best[index] * (1 + 1e-9));
      EXPECT_LE(split.loss, before * (1 + 1e-9));
      worst = std::max(worst, split.loss / best[index] - 1);
      before = split.loss;
    }
  }
  EXPECT_LE(worst, 1e-9);
}

// Which place comes first says nothing, but among those that are alike.
TEST(SplitBits, TheOrderOfPlacesIsNothing) {
  std::mt19937 engine(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<Demand> demands = drawn(engine);
    for (Demand& demand : demands) demand.weight *= std::uniform_real_distribution<>(1, 2)(engine);
    const std::vector<int> bits = split_bits(demands, 2.6).bits;
    std::vector<size_t> order(demands.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::shuffle(order, engine);
    std::vector<Demand> shuffled;
    for (const size_t i : order) shuffled.push_back(demands[i]);
    const std::vector<int> others = split_bits(shuffled, 2.6).bits;
    for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(others[i], bits[order[i]]);
  }
}

/// Of a site: every coding's cost and loss.
std::vector<std::array<double, 2>> codings_of(const Demand& demand) {
  std::vector<std::array<double, 2>> codings;
  const auto add = [&](double more, const std::vector<double>& error) {
    for (int bits = 1; bits <= 8; ++bits) {
      if (demand.fixed > 0 && bits != demand.fixed) continue;
      codings.push_back({demand.elements * (bits + more),
                         demand.elements * demand.weight * error[static_cast<size_t>(bits) - 1]});
    }
  };
  add(0.0, demand.error);
  for (const Alternative& one : demand.alternatives) add(one.bits, one.error);
  return codings;
}

/// The least loss of all codings of three sites.
double least_of_three(const std::vector<Demand>& demands, double budget) {
  double least = 1e300;
  const auto a = codings_of(demands[0]), b = codings_of(demands[1]), c = codings_of(demands[2]);
  for (const auto& x : a) {
    for (const auto& y : b) {
      for (const auto& z : c) {
        if (x[0] + y[0] + z[0] <= budget) least = std::min(least, x[1] + y[1] + z[1]);
      }
    }
  }
  return least;
}

// Against every bits and every alternative there are.
TEST(SplitBits, IsTheBestAmongAlternatives) {
  std::mt19937 engine(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()));
  std::uniform_real_distribution<> uniform(0.0, 1.0);
  int used = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Demand> demands;
    for (int i = 0; i < 3; ++i) {
      Demand demand{1.0 + 9.0 * uniform(engine), std::exp(4.0 * uniform(engine)), kRotated};
      for (int j = 0; j < round % 4; ++j) {
        Alternative one{0.5 * uniform(engine), kRotated};
        const double left = uniform(engine);
        for (double& error : one.error) error *= left;
        demand.alternatives.push_back(one);
      }
      if (uniform(engine) < 0.2) demand.fixed = 1 + static_cast<int>(7.0 * uniform(engine));
      demands.push_back(demand);
    }
    const double average = 2.0 + 3.0 * uniform(engine);
    const BitSplit split = split_bits(demands, average);
    double fewest = 0.0, cost = 0.0, loss = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      const Demand& demand = demands[i];
      const bool is_beside = split.alternatives[i] >= 0;
      const Alternative none{0.0, demand.error};
      const Alternative& one =
          is_beside ? demand.alternatives[static_cast<size_t>(split.alternatives[i])] : none;
      used += is_beside ? 1 : 0;
      cost += demand.elements * (split.bits[i] + one.bits);
      loss += demand.elements * demand.weight * one.error[static_cast<size_t>(split.bits[i]) - 1];
      fewest += demand.elements * std::max(demand.fixed, 1);
      if (demand.fixed > 0) {
        EXPECT_EQ(split.bits[i], demand.fixed);
      }
    }
    const double budget = std::max(average * elements(demands), fewest) * (1 + 1e-12);
    EXPECT_LE(cost, budget * (1 + 1e-12));
    EXPECT_NEAR(split.loss, loss, 1e-9 * loss);
    EXPECT_NEAR(split.loss, least_of_three(demands, budget), 1e-9 * loss) << round;
    EXPECT_LE(split.bound, split.loss * (1 + 1e-12));
  }
  EXPECT_GT(used, 40);
}

TEST(SplitBits, GivesAllThereIs) {
  const std::vector<Demand> demands(3, {5.0, 1.0, kRotated});
  EXPECT_EQ(split_bits(demands, 9.0).bits, std::vector<int>(3, 8));
  EXPECT_EQ(split_bits(demands, 1.0).bits, std::vector<int>(3, 1));
  EXPECT_TRUE(split_bits({}, 2.0).bits.empty());
}

}  // namespace fewbit::session::compression_budget_test
