#include <cmath>

#include <gtest/gtest.h>

#include "slow_table.hpp"
#include "verify/verify.hpp"

namespace fewbit::solver::exact_test {
constexpr const char* kGelu = "x*normcdf(x)";

void expect_verified(const Table& table) {
  for (const auto& [claim, holds, detail] : verify_table(table)) {
    EXPECT_TRUE(holds) << claim << ": " << detail;
  }
}

TEST(Verify, AcceptsReluWithItsExactTable) {
  Table table;
  table.problem = make_problem("max(x, 0)", Form::levels, 2);
  table.thresholds = {0.0};
  table.codes = {0, 1};
  table.levels = {0.0, 1.0};
  expect_verified(table);
}

TEST(Verify, AcceptsEqualPartsOfAStraightDerivative) {
  for (const int k : {2, 3, 8}) {
    Table table;
    table.problem = make_problem("x^2/2", Form::intervals, k, {}, {0.0, 1.0});
    for (int i = 0; i < k; ++i) {
      table.levels.push_back((i + 0.5) / k);
      table.codes.push_back(i);
      if (i > 0) table.thresholds.push_back(static_cast<double>(i) / k);
    }
    table.error = 1.0 / (12.0 * k * k);
    table.lower_bound = table.error * (1.0 - 1e-10);
    table.relative_gap = (table.error - table.lower_bound) / table.error;
    table.smoothed_bias = slow_table(table.problem, table.levels, Symmetry::none).smoothed_bias;
    expect_verified(table);
  }
}

TEST(Verify, AcceptsEqualGapsOfAStraightDerivativeUnbiased) {
  const Table table = slow_table(make_problem("x^2/2", Form::unbiased, 5, {}, {0.0, 1.0}),
                                 {0, 0.2, 0.3, 0.6, 1}, Symmetry::none);
  EXPECT_NEAR(table.error, 1.0 / (6.0 * 16.0), 1e-13);
  expect_verified(table);
}

TEST(Verify, AcceptsThePapersOneBitGelu) {
  const Table table = slow_table(make_problem(kGelu, Form::levels, 2), {0.0, 1.0}, Symmetry::none);
  EXPECT_NEAR(table.error, 0.1410, 5e-5);
  expect_verified(table);
}

TEST(Verify, AcceptsEveryFormOfKnownOptima) {
  const std::string tanh = "tanh(x)";
  expect_verified(
      slow_table(make_problem(kGelu, Form::levels, 4), {-.1, .3, .7, 1.1}, Symmetry::none));
  expect_verified(slow_table(make_problem(kGelu, Form::levels, 4, normal_weight(0, 1)),
                             {-.1, .3, .7, 1.1}, Symmetry::none));
  expect_verified(
      slow_table(make_problem(tanh, Form::intervals, 4), {.1, .3, .6, .9}, Symmetry::even));
  expect_verified(
      slow_table(make_problem("softplus(x)", Form::intervals, 4), {0, .3, .6, 1}, Symmetry::none));
  expect_verified(slow_table(make_problem(kGelu, Form::unbiased, 4, normal_weight(0, 1)),
                             {0, .3, .6, 1}, Symmetry::none));
  expect_verified(slow_table(make_problem(tanh, Form::unbiased, 3, normal_weight(0.3, 2)),
                             {0, .5, 1}, Symmetry::none));
}

TEST(Verify, AcceptsInfiniteDomains) {
  const double infinity = std::numeric_limits<double>::infinity();
  expect_verified(
      slow_table(make_problem(kGelu, Form::levels, 3, normal_weight(0, 1), {-infinity, infinity}),
                 {0, .5, 1}, Symmetry::none));
}

TEST(Verify, AcceptsHistograms) {
  const WeightSpec weight = {"histogram", {}, {-3, -1, 0, 0.5, 2, 4}, {.1, .3, .2, .4, 0}, {}};
  expect_verified(slow_table(make_problem(kGelu, Form::levels, 3, weight, {-3, 4}), {0, .5, 1},
                             Symmetry::none));
}

bool holds(const Table& table, const std::string& claim) {
  for (const Finding& finding : verify_table(table)) {
    if (finding.claim == claim) return finding.holds;
  }
  ADD_FAILURE() << "nothing found about " << claim;
  return false;
}

TEST(Verify, RejectsALocalOptimumByItsBoundAlone) {
  const Table table =
      slow_table(make_problem(kGelu, Form::levels, 4), {-.12, -.1, .5, 1.0}, Symmetry::none);
  EXPECT_TRUE(holds(table, "levels"));
  EXPECT_TRUE(holds(table, "codes"));
  EXPECT_FALSE(holds(table, "lower_bound"));
}

TEST(Verify, RejectsABoundOfFewerLevelsThanAllowed) {
  Table table =
      slow_table(make_problem(kGelu, Form::levels, 4), {-.1, .3, .7, 1.1}, Symmetry::none);
  EXPECT_TRUE(holds(table, "lower_bound"));
  table.problem.levels = 5;
  EXPECT_FALSE(holds(table, "lower_bound"));
}
}  // namespace fewbit::solver::exact_test
