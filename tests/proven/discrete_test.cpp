// Tables for single values: every figure that was altered is noticed.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "functions/registry.hpp"
#include "search/search_table.hpp"
#include "verify/verify.hpp"

namespace fewbit::solver::discrete_test {

Problem problem_on(const std::vector<double>& values, const char* function, int levels, Form form) {
  Problem problem;
  problem.function = parse_function(function);
  problem.levels = levels;
  problem.form = form;
  problem.weight.kind = "samples";
  problem.weight.values = values;
  problem.weight.masses.assign(values.size(), 1.0 / static_cast<double>(values.size()));
  problem.domain = {values.front(), values.back()};
  return problem;
}

bool verifies(const Table& table) {
  const std::vector<Finding> findings = verify_table(table);
  return std::all_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.holds; });
}

const std::vector<double> kValues{-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5.5};

TEST(Discrete, EveryAlteredFigureIsNoticed) {
  for (const Form form : {Form::levels, Form::intervals, Form::unbiased}) {
    const Table table = search_table(problem_on(kValues, "gelu", 4, form));
    ASSERT_TRUE(verifies(table)) << to_string(form);
    Table altered = table;
    altered.error *= 1.0 - 1e-9;
    EXPECT_FALSE(verifies(altered)) << to_string(form);
    altered = table;
    altered.lower_bound *= 1.0 + 1e-9;
    altered.error = std::max(altered.error, altered.lower_bound);
    altered.relative_gap = (altered.error - altered.lower_bound) / altered.error;
    EXPECT_FALSE(verifies(altered)) << to_string(form);
    altered = table;
    altered.levels[1] += 1e-6;
    EXPECT_FALSE(verifies(altered)) << to_string(form);
  }
}

TEST(Discrete, AThresholdOnTheOtherSideOfAValueIsNoticed) {
  const Table table = search_table(problem_on(kValues, "gelu", 4, Form::levels));
  for (size_t i = 0; i < table.thresholds.size(); ++i) {
    const auto above = std::upper_bound(kValues.begin(), kValues.end(), table.thresholds[i]);
    Table altered = table;
    // The value itself is on the left of a threshold that is equal to it, the double below is not.
    altered.thresholds[i] = *std::prev(above);
    altered.smoothed_bias = smoothed_bias(altered);
    EXPECT_TRUE(verifies(altered)) << i;
    altered.thresholds[i] = std::nextafter(*std::prev(above), -HUGE_VAL);
    EXPECT_FALSE(verifies(altered)) << i;
  }
}

TEST(Discrete, ValuesOnBothSidesOfZeroCountAtTheirMagnitude) {
  Table table = search_table(problem_on({-3, -2, -1, 1, 2, 3}, "tanh", 3, Form::levels));
  ASSERT_EQ(table.symmetry, Symmetry::even);
  EXPECT_EQ(table.error, 0.0);
  table.thresholds[0] = std::nextafter(1.0, 0.0);
  EXPECT_FALSE(verifies(table));
}

TEST(Discrete, ATableThatIsNotTheBestIsNotTakenForIt) {
  Table table = search_table(problem_on(kValues, "gelu", 4, Form::levels));
  Problem fewer = table.problem;
  fewer.levels = 3;
  Table worse = search_table(fewer);
  worse.problem.levels = 4;
  EXPECT_FALSE(verifies(worse));
}

}  // namespace fewbit::solver::discrete_test
