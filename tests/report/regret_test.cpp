#include "report/regret.hpp"

#include <gtest/gtest.h>

#include "tests/report/support.hpp"

namespace fewbit::solver::regret_test {

RegretStudy small() {
  RegretStudy study;
  study.functions = {parse_function("gelu"), parse_function("relu")};
  study.levels = {4};
  study.ranges = {{0.5, 2}, {0.9, 1.1}};
  study.sigmas = {0.5, 1};
  return study;
}

TEST(Regret, IsNeverNegative) {
  for (const auto& regret : regrets(small())) EXPECT_GE(regret.value, -1e-8);
}

TEST(Regret, LeavesStepFunctionsOut) {
  const auto found = regrets(small());
  EXPECT_EQ(found.size(), 4U);
  for (const auto& regret : found) EXPECT_EQ(regret.function, 0U);
}

TEST(Regret, NarrowRangeAroundSigmaCostsNothing) {
  for (const auto& regret : regrets(small())) {
    if (regret.range != 1) continue;
    if (regret.sigma == 1.0) {
      EXPECT_LT(regret.value, 1e-3);
    } else {
      EXPECT_GT(regret.value, 1e-2);
    }
  }
}

TEST(Regret, SmallestWorstCaseIsMarkedAndFirst) {
  const RegretStudy study = small();
  const std::vector<Regret> found{{0, 0, 4, 0.5, 0.1}, {0, 0, 4, 1, 0.3}, {1, 0, 4, 0.5, 0.2}};
  const auto sections = regret_sections(study, found);
  EXPECT_EQ(sections[0].grid.rows[0][0].text, "0.9 to 1.1 (smallest)");
  EXPECT_EQ(sections[0].grid.rows[1][1].text, "30.0 %");
}

}  // namespace fewbit::solver::regret_test
