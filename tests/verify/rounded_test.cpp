#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "slow_table.hpp"
#include "table/rounding.hpp"
#include "verify/axis.hpp"
#include "verify/bias.hpp"
#include "verify/conditions.hpp"
#include "verify/verify.hpp"

namespace fewbit::solver {
namespace {

bool accepted(const Table& table) {
  const auto findings = verify_table(table);
  return std::all_of(findings.begin(), findings.end(), [](const Finding& f) { return f.holds; });
}

/// Error, gap and bias as they are after a change of thresholds or levels.
void evaluate_again(Table& table) {
  Findings ignored;
  table.error = check_intervals(table, Axis(table.problem, false), false, ignored).error;
  table.relative_gap = (table.error - table.lower_bound) / table.error;
  table.smoothed_bias = recompute_bias(table);
}

Table gelu_table() {
  return slow_table(make_problem("x*normcdf(x)", Form::levels, 4), {-.1, .3, .7, 1.1},
                    Symmetry::none);
}

TEST(VerifyRounded, AcceptsThresholdsRoundedDownToTheType) {
  for (const DataType dtype : {DataType::fp32, DataType::bf16, DataType::fp16}) {
    Table table = round_thresholds(gelu_table(), dtype);
    evaluate_again(table);
    EXPECT_TRUE(accepted(table)) << to_string(dtype);
  }
}

TEST(VerifyRounded, RejectsOtherThresholds) {
  const Table rounded = round_thresholds(gelu_table(), DataType::bf16);
  for (size_t i = 0; i < rounded.thresholds.size(); ++i) {
    Table table = rounded;
    table.thresholds[i] = std::nextafter(table.thresholds[i], 9.0);  // not of the type
    evaluate_again(table);
    EXPECT_FALSE(accepted(table)) << i;
    table.thresholds[i] = round_down(rounded.thresholds[i] - 1e-6, DataType::bf16);  // too low
    evaluate_again(table);
    EXPECT_FALSE(accepted(table)) << i;
  }
}

// A smoothed table may be anything, but what it says of itself must be true, and its bound is the
// one of the squared error.
TEST(VerifySmoothed, ChecksErrorBiasAndBoundButNoOptimality) {
  Table table = gelu_table();
  table.problem.objective.smoothed = true;
  for (double& level : table.levels) level *= 1.01;
  EXPECT_FALSE(accepted(table));
  evaluate_again(table);
  EXPECT_TRUE(accepted(table));
  table.lower_bound *= 1.0 + 1e-9;
  table.relative_gap = (table.error - table.lower_bound) / table.error;
  EXPECT_FALSE(accepted(table));
}

}  // namespace
}  // namespace fewbit::solver
