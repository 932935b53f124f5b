#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "table/json.hpp"
#include "verify/conditions.hpp"
#include "verify/verify.hpp"

namespace fewbit::solver::shipped_test {
constexpr double kChange = 1e-9;

std::vector<std::string> shipped_tables() {
  std::vector<std::string> paths;
  const std::filesystem::path folder = std::filesystem::path(FEWBIT_SOURCE_DIR) / "tables";
  for (const auto& function : std::filesystem::directory_iterator(folder)) {
    if (!function.is_directory()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(function)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool all_hold(const std::vector<Finding>& findings) {
  return std::all_of(findings.begin(), findings.end(), [](const Finding& f) { return f.holds; });
}

/// Thresholds and levels of `table`.
std::vector<double*> numbers_of(Table& table) {
  std::vector<double*> numbers;
  for (double& threshold : table.thresholds) numbers.push_back(&threshold);
  for (double& level : table.levels) numbers.push_back(&level);
  return numbers;
}

/// Only what is said of thresholds, codes and levels.
bool conditions_hold(const Table& table, const InputAxis& axis) {
  Findings findings;
  const bool smoothed = table.problem.objective.smoothed;
  if (table.problem.form == Form::unbiased) {
    check_unbiased(table, axis, findings);
  } else {
    check_intervals(table, axis, !smoothed, findings);
    if (smoothed) check_smoothed(table, axis, findings);
  }
  return all_hold(findings.take());
}

TEST(ShippedTables, AllVerify) {
  const auto paths = shipped_tables();
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    for (const auto& [claim, holds, detail] : verify_file(path, true)) {
      EXPECT_TRUE(holds) << path << ": " << claim << ": " << detail;
    }
  }
}

// Thresholds and levels count by their distance, not by their own size: f' is of the order of 1,
// and where a level is next to nothing (8e-9, tanh's slope at the end of its domain) a billionth of
// itself is beyond what f' can be computed to.
TEST(ShippedTables, RejectAChangeOfOneBillionthInAnyThresholdOrLevel) {
  for (const std::string& path : shipped_tables()) {
    Table table = read_table(path);
    const InputAxis axis(table.problem, table.symmetry == Symmetry::even);
    for (double* number : numbers_of(table)) {
      const double kept = *number;
      for (const double change : {-kChange, kChange}) {
        *number = kept + change;
        EXPECT_FALSE(conditions_hold(table, axis) && all_hold(verify_table(table)))
            << path << ": " << kept << " changed by " << change;
      }
      *number = kept;
    }
  }
}
}  // namespace fewbit::solver::shipped_test
