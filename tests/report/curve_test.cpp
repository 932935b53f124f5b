#include "report/curve.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/report/support.hpp"

namespace fewbit::solver::curve_test {

TEST(Steps, EvenTableUnfoldsToTheSameValues) {
  Table table;
  table.symmetry = Symmetry::even;
  table.thresholds = {1, 2};
  table.codes = {2, 1, 0};
  table.levels = {0, 0.5, 1};
  const auto steps = steps_of(table);
  ASSERT_EQ(steps.size(), 5U);
  for (const double x : {-3.0, -1.5, -0.5, 0.0, 0.5, 1.5, 3.0}) {
    const double expected = table.levels[static_cast<size_t>(table.codes[table.interval_of(x)])];
    for (const auto& step : steps) {
      if (x <= step.lo || step.hi < x) continue;
      EXPECT_EQ(step.level, expected) << "x = " << x;
    }
  }
}

TEST(Steps, UnbiasedTableHasNone) {
  EXPECT_TRUE(steps_of(solved("gelu", 4, Form::unbiased)).empty());
}

TEST(Curve, ShowsEveryThresholdWithRoom) {
  const Table table = solved("gelu", 8);
  const Curve curve = sample_curve(table, 200);
  EXPECT_LT(curve.lo, table.thresholds.front());
  EXPECT_GT(curve.hi, table.thresholds.back());
  EXPECT_GE(curve.lo, -10.0);
  EXPECT_EQ(curve.steps.size(), table.codes.size());
  EXPECT_EQ(curve.steps.front().lo, curve.lo);
  EXPECT_EQ(curve.steps.back().hi, curve.hi);
}

TEST(Curve, FindsWhatIsSmallInAWideDomain) {
  for (const Form form : {Form::levels, Form::unbiased}) {
    for (const char* function : {"gelu", "hardtanh"}) {
      Problem problem;
      problem.function = parse_function(function);
      problem.form = form;
      problem.domain = {-1e4, 1e4};
      const Curve curve = sample_curve(solve(problem), 200);
      EXPECT_LT(curve.hi - curve.lo, 100.0) << function;
      EXPECT_LT(curve.lo, -1.0) << function;
      EXPECT_GT(curve.hi, 1.0) << function;
    }
  }
}

TEST(Curve, BreaksWhereTheDerivativeJumps) {
  const Curve curve = sample_curve(solved("selu", 4), 200);
  ASSERT_EQ(curve.pieces.size(), 2U);
  EXPECT_NEAR(curve.pieces[0].back().y, 1.7580993408473766, 1e-9);
  EXPECT_NEAR(curve.pieces[1].front().y, 1.0507009873554805, 1e-9);
}

TEST(Curve, InfiniteDomainIsDrawnWhereTheWeightIs) {
  Problem problem;
  problem.function = parse_function("gelu");
  problem.domain = {-HUGE_VAL, HUGE_VAL};
  problem.weight = {"normal", {{"mean", 0}, {"sigma", 1}}, {}, {}, {}};
  const Curve curve = sample_curve(solve(problem), 200);
  EXPECT_TRUE(std::isfinite(curve.lo));
  EXPECT_TRUE(std::isfinite(curve.hi));
}

}  // namespace fewbit::solver::curve_test
