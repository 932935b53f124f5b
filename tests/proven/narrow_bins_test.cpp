// Histograms whose bins hold few doubles: a threshold one double inside a bin cuts off a piece with
// a mass of its own.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "functions/registry.hpp"
#include "proven/solve.hpp"
#include "verify/verify.hpp"

namespace fewbit::test::narrow_bins_test {

using namespace fewbit::solver;

/// A bin of 512 doubles ends with each whole number from -5 to 5.
Problem problem_on_whole_numbers() {
  Problem problem;
  problem.function = parse_function("tanh");
  problem.levels = 4;
  problem.weight.kind = "histogram";
  for (int i = -5; i <= 5; ++i) {
    const double width = i == 0 ? 1e-80 : 0x1p-43 * std::abs(i);
    problem.weight.edges.insert(problem.weight.edges.end(), {i - width, static_cast<double>(i)});
    problem.weight.masses.insert(problem.weight.masses.end(), {1.0 / 11.0, 0.0});
  }
  problem.weight.masses.pop_back();
  problem.domain = {problem.weight.edges.front(), 5.0};
  return problem;
}

TEST(NarrowBins, NoThresholdGainsByCuttingABin) {
  const Table table = solve(problem_on_whole_numbers());
  // The exact optimum on the eleven numbers themselves.
  EXPECT_NEAR(table.error, 1.0170295784e-05, 1e-14);
  EXPECT_LE(table.relative_gap, 1e-8);
}

TEST(NarrowBins, TheVerifierCountsThePieceThatAThresholdCutsOff) {
  const Table table = solve(problem_on_whole_numbers());
  ASSERT_EQ(table.symmetry, Symmetry::even);
  // Under |x| the bins of -1 and 1 meet at 1: half their mass lies on either side.
  for (const double threshold : {1.0, std::nextafter(1.0, 0.0), 1.0 - 0x1p-44}) {
    Table altered = table;
    altered.thresholds.front() = threshold;
    const std::vector<Finding> findings = verify_table(altered);
    const auto error = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
      return finding.claim == "error";
    });
    ASSERT_NE(error, findings.end());
    EXPECT_FALSE(error->holds) << threshold << ": " << error->detail;
  }
}

}  // namespace fewbit::test::narrow_bins_test
