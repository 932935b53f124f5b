// Bits for places: against every split there is, and what a budget promises.
#include "session/compression_budget.hpp"

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
  for (const Demand& demand : demands) sum += demand.elements + demand.derived;
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

TEST(SplitBits, EqualPlacesShareEqually) {
  const std::vector<Demand> demands(8, {100.0, 1.0, kRotated});
  EXPECT_EQ(split_bits(demands, 2.0), std::vector<int>(8, 2));
  EXPECT_EQ(spent(demands, split_bits(demands, 1.5)), 1.5 * 800);
}

TEST(SplitBits, WeightBuysBits) {
  std::vector<Demand> demands(2, {100.0, 1.0, kRotated});
  demands[1].weight = 16.0;
  EXPECT_EQ(split_bits(demands, 3.0), (std::vector<int>{2, 4}));
}

TEST(SplitBits, WhatIsFixedStays) {
  std::vector<Demand> demands(3, {100.0, 1.0, kRotated});
  demands[0].fixed = 6;
  EXPECT_EQ(split_bits(demands, 3.0), (std::vector<int>{6, 2, 1}));
}

// Their bits go to those that they come of, and beyond to whoever gains most.
TEST(SplitBits, WhatIsDerivedAddsItsBits) {
  std::vector<Demand> demands(2, {100.0, 1.0, kRotated});
  demands[0].derived = 200.0;
  EXPECT_EQ(split_bits(demands, 2.0), (std::vector<int>{4, 4}));
  demands[0].weight = 16.0;
  EXPECT_EQ(split_bits(demands, 2.0), (std::vector<int>{5, 3}));
}

// Of places with the same size it is the best split; of others within one bit of the largest.
TEST(SplitBits, IsTheBestSplit) {
  std::mt19937 engine(1);
  for (int round = 0; round < 40; ++round) {
    const bool is_even = round % 2 == 0;
    std::vector<Demand> demands;
    double largest = 0.0;
    for (int i = 0; i < 4; ++i) {
      const double count = is_even ? 10.0 : std::uniform_real_distribution<>(1, 20)(engine);
      const double weight = std::exp(std::uniform_real_distribution<>(-3, 3)(engine));
      demands.push_back({count, weight, kRotated});
      if (round % 3 == 0) demands.back().derived = count * i;
      largest = std::max(largest, count);
    }
    const double average = std::uniform_int_distribution<>(4, 24)(engine) / 4.0;
    const std::vector<int> bits = split_bits(demands, average);
    EXPECT_LE(spent(demands, bits), average * elements(demands) + 1e-9);
    const double slack = is_even ? 0.0 : largest / elements(demands);
    EXPECT_LE(least(demands, average), cost(demands, bits) + 1e-12);
    if (average - slack >= 1.0) {
      EXPECT_LE(cost(demands, bits), least(demands, average - slack) + 1e-12) << round;
    }
  }
}

TEST(SplitBits, GivesAllThereIs) {
  const std::vector<Demand> demands(3, {5.0, 1.0, kRotated});
  EXPECT_EQ(split_bits(demands, 9.0), std::vector<int>(3, 8));
  EXPECT_EQ(split_bits(demands, 1.0), std::vector<int>(3, 1));
  EXPECT_TRUE(split_bits({}, 2.0).empty());
}

}  // namespace fewbit::session::compression_budget_test
