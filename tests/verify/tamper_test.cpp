#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "slow_table.hpp"
#include "table/json.hpp"
#include "verify/verify.hpp"

namespace fewbit::solver::tamper_test {
constexpr double kChange = 1e-9;

bool accepted(const Table& table) {
  const auto findings = verify_table(table);
  return std::all_of(findings.begin(), findings.end(), [](const Finding& f) { return f.holds; });
}

/// Each number that matters, changed by `kChange` of itself up and down, must be noticed.
void expect_each_change_is_rejected(const Table& table) {
  ASSERT_TRUE(accepted(table));
  Table changed = table;
  const auto try_changes = [&](double& value, const std::string& what) {
    const double kept = value;
    if (std::fabs(kept) < kChange) return;  // rounding, no digits that matter
    for (const double factor : {1.0 - kChange, 1.0 + kChange}) {
      value = kept * factor;
      EXPECT_FALSE(accepted(changed)) << what << " " << kept << " times " << factor;
    }
    value = kept;
  };
  for (double& level : changed.levels) try_changes(level, "level");
  for (double& threshold : changed.thresholds) try_changes(threshold, "threshold");
  try_changes(changed.error, "error");
  try_changes(changed.lower_bound, "lower_bound");
  try_changes(changed.smoothed_bias, "smoothed_bias");
}

TEST(Tampering, IsNoticedInLevels) {
  expect_each_change_is_rejected(slow_table(make_problem("x*normcdf(x)", Form::levels, 4),
                                            {-.1, .3, .7, 1.1}, Symmetry::none));
}

TEST(Tampering, IsNoticedInEvenIntervals) {
  expect_each_change_is_rejected(
      slow_table(make_problem("tanh(x)", Form::intervals, 4, normal_weight(0, 1)), {.1, .3, .6, .9},
                 Symmetry::even));
}

TEST(Tampering, IsNoticedInUnbiasedLevels) {
  Table table = slow_table(make_problem("softplus(x)", Form::unbiased, 4, normal_weight(0, 1)),
                           {0, .3, .6, 1}, Symmetry::none);
  expect_each_change_is_rejected(table);
}

TEST(Tampering, IsNoticedInCodes) {
  const Table table =
      slow_table(make_problem("x*normcdf(x)", Form::levels, 4), {-.1, .3, .7, 1.1}, Symmetry::none);
  for (size_t i = 0; i < table.codes.size(); ++i) {
    Table changed = table;
    for (int code = 0; code < 4; ++code) {
      changed.codes[i] = code;
      if (code != table.codes[i]) {
        EXPECT_FALSE(accepted(changed)) << i << ' ' << code;
      }
    }
  }
}

TEST(Tampering, IsNoticedInGapAndResidual) {
  const Table table =
      slow_table(make_problem("x*normcdf(x)", Form::levels, 4), {-.1, .3, .7, 1.1}, Symmetry::none);
  Table changed = table;
  changed.relative_gap *= 1.001;
  EXPECT_FALSE(accepted(changed));
  changed = table;
  changed.residual += 1e-11;
  EXPECT_FALSE(accepted(changed));
}

TEST(Tampering, IsNoticedInTheProblem) {
  const Table table =
      slow_table(make_problem("x*normcdf(x)", Form::levels, 4), {-.1, .3, .7, 1.1}, Symmetry::none);
  Table changed = table;
  changed.problem.domain.hi = 10.000001;
  EXPECT_FALSE(accepted(changed));
  changed = table;
  changed.problem.function.expression = "x*normcdf(1.000000001*x)";
  EXPECT_FALSE(accepted(changed));
  changed = table;
  changed.problem.levels = 6;  // more levels allowed: the bound is none
  EXPECT_FALSE(accepted(changed));
  changed = table;
  changed.symmetry = Symmetry::even;
  EXPECT_FALSE(accepted(changed));
  changed = table;
  changed.problem.function.expression = "x*normcdf(y)";
  EXPECT_FALSE(accepted(changed));
}

TEST(VerifyFile, ComparesTheTextByteByByte) {
  const Table table =
      slow_table(make_problem("x*normcdf(x)", Form::levels, 2), {0, 1}, Symmetry::none);
  const std::string path = testing::TempDir() + "verify_file_test.json";
  write_table(table, path);
  EXPECT_TRUE(verify_file(path).front().holds);
  std::string text = to_json(table);
  text.insert(text.find("\"bits\""), " ");
  write_text_file(path, text);
  const Finding finding = verify_file(path, true).front();
  EXPECT_EQ(finding.claim, "text");
  EXPECT_FALSE(finding.holds);
  EXPECT_TRUE(verify_file(path).front().holds);
  EXPECT_EQ(finding.detail, "differs from the canonical text of this table in white space alone");
}

TEST(VerifyFile, RefusesANumberThatIsSpelledInAnotherWay) {
  const Table table =
      slow_table(make_problem("x*normcdf(x)", Form::levels, 2), {0, 1}, Symmetry::none);
  const std::string path = testing::TempDir() + "verify_spelling_test.json";
  std::string text = to_json(table);
  const size_t place = text.find("\"domain\": [-10,");
  ASSERT_NE(place, text.npos);
  text.insert(place + 14, ".0");
  write_text_file(path, text);
  const Finding finding = verify_file(path).front();
  EXPECT_FALSE(finding.holds);
  EXPECT_EQ(finding.detail, "differs from the canonical text of this table");
}
}  // namespace fewbit::solver::tamper_test
