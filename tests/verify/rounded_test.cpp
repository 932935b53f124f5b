#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "slow_table.hpp"
#include "table/json.hpp"
#include "table/rounding.hpp"
#include "verify/axis.hpp"
#include "verify/bias.hpp"
#include "verify/conditions.hpp"
#include "verify/verify.hpp"

namespace fewbit::solver::rounded_test {
bool accepted(const Table& table) {
  const auto findings = verify_table(table);
  return std::all_of(findings.begin(), findings.end(), [](const Finding& f) { return f.holds; });
}

/// Error, gap and bias as they are after a change of thresholds or levels.
void evaluate_again(Table& table) {
  Findings ignored;
  table.error = check_intervals(table, InputAxis(table.problem, false), false, ignored).error;
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

Table smoothed_gelu() {
  return read_table(FEWBIT_SOURCE_DIR "/tables/gelu/smoothed_normal_b2.json");
}

TEST(VerifySmoothed, RejectsWhatIsNotStationaryThoughEveryFigureIsTrue) {
  Table table = smoothed_gelu();
  EXPECT_TRUE(accepted(table));
  table.thresholds[0] += 1e-6;
  table.levels[1] += 1e-7;
  evaluate_again(table);
  EXPECT_FALSE(accepted(table));
}

TEST(VerifySmoothed, RejectsABoundThatIsTooHigh) {
  Table table = smoothed_gelu();
  table.lower_bound *= 1.0 + 1e-9;
  table.relative_gap = (table.error - table.lower_bound) / table.error;
  EXPECT_FALSE(accepted(table));
}

TEST(VerifySmoothed, RejectsAResidualThatIsNotLeft) {
  Table table = smoothed_gelu();
  table.residual = 1e-6;
  EXPECT_FALSE(accepted(table));
}

TEST(VerifySmoothed, AcceptsThresholdsRoundedDownToTheType) {
  for (const DataType dtype : {DataType::fp32, DataType::bf16, DataType::fp16}) {
    Table table = round_thresholds(smoothed_gelu(), dtype);
    evaluate_again(table);
    EXPECT_TRUE(accepted(table)) << to_string(dtype);
    table.thresholds[0] = round_down(std::nextafter(table.thresholds[0], -9.0), dtype);
    evaluate_again(table);
    EXPECT_FALSE(accepted(table)) << to_string(dtype);
  }
}

// At a jump of f' the objective has a corner, which is its minimum with no slope being zero there.
TEST(VerifySmoothed, KnowsCorners) {
  Table table;
  table.problem = make_problem("max(x, 0)", Form::levels, 2, normal_weight(0.3, 1));
  table.problem.objective.smoothed = true;
  table.thresholds = {0.0};
  table.codes = {0, 1};
  table.levels = {0.0, 1.0};
  EXPECT_TRUE(accepted(table));
  for (const double shift : {-1e-9, 1e-9}) {
    table.thresholds[0] = shift;
    evaluate_again(table);
    EXPECT_FALSE(accepted(table)) << shift;
  }
}
}  // namespace fewbit::solver::rounded_test
