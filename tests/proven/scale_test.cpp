// What once printed bounds that were none: features far narrower than the domain, weights far
// narrower or wider, sharp functions, magnitudes at the ends of a double's range.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "functions/registry.hpp"
#include "proven/solve.hpp"
#include "verify/verify.hpp"
#include "weights/parse.hpp"

namespace fewbit::scale_test {

using namespace fewbit::solver;

FunctionSpec function_of(const std::string& text) {
  try {
    return parse_function(text);
  } catch (const Error&) {
    return custom_function("own", text);
  }
}

/// With more work for its gap.
Table patiently_solved(const Problem& problem) {
  SolveOptions options;
  options.search.patience = 20.0;
  return solve(problem, options);
}

Table solved(const std::string& function, int bits, const std::string& weight = "uniform",
             Domain domain = {}, Form form = Form::levels) {
  Problem problem;
  problem.function = function_of(function);
  problem.levels = 1 << bits;
  problem.weight = parse_weight(weight);
  problem.domain = domain;
  problem.form = form;
  return patiently_solved(problem);
}

constexpr double kInfinity = HUGE_VAL;

TEST(Scale, GeluOnWideDomainsKeepsTheErrorOfItsMiddle) {
  EXPECT_NEAR(solved("gelu", 2, "uniform", {-1e4, 1e4}).error, 0.04518, 2e-5);
  EXPECT_NEAR(solved("gelu", 2, "uniform", {-65504, 65504}).error, 0.045189, 1e-6);
  EXPECT_NEAR(solved("gelu", 2, "uniform", {-1e5, 1e5}, Form::intervals).error, 0.045189, 1e-6);
  EXPECT_NEAR(solved("gelu", 1, "uniform", {-1e5, 1e5}, Form::intervals).error, 0.141047, 1e-6);
}

TEST(Scale, TanhOnWideDomainsKeepsItsLevels) {
  for (const double end : {65504.0, 1e8, 1e12}) {
    const Table table = solved("tanh", 3, "uniform", {-end, end});
    EXPECT_EQ(table.levels.size(), 8u) << end;
    EXPECT_NEAR(table.error, 0.00737, 2e-5) << end;
    EXPECT_LE(table.relative_gap, 1e-2) << end;
  }
}

TEST(Scale, ErrorsFollowTheScaleOfTheFunction) {
  // f(s x) / s is f seen from s times as near: the error is that on [-10 s, 10 s], over s.
  const double silu = solved("silu", 2, "uniform", {-1e5, 1e5}).error;
  EXPECT_NEAR(solved("silu:beta=1e4", 2).error * 1e4 / silu, 1.0, 1e-6);
  const double celu = solved("celu", 2, "uniform", {-1e6, 1e6}).error;
  EXPECT_NEAR(solved("celu:alpha=1e-5", 2).error * 1e5 / celu, 1.0, 1e-5);
  const double tanh = solved("tanh", 3, "uniform", {-1e6, 1e6}).error;
  EXPECT_NEAR(solved("tanh(1e5*x)", 3).error / 1e5 / tanh, 1.0, 1e-5);
  const double gelu = solved("gelu", 3, "uniform", {-1e5, 1e5}).error;
  EXPECT_NEAR(solved("x*normcdf(1e4*x)", 3).error * 1e4 / gelu, 1.0, 1e-6);
  EXPECT_NEAR(solved("softplus:beta=1e6", 2).error * 1e6, 0.0616, 1e-3);
}

TEST(Scale, NarrowAndWideWeightsHaveTheirMass) {
  const double limit = solved("gelu", 2, "normal:0,1e-6", {-kInfinity, kInfinity}).error;
  EXPECT_NEAR(solved("gelu", 2, "normal:0,1e-6").error / limit, 1.0, 1e-6);
  EXPECT_NEAR(solved("gelu", 2, "normal:0,1e-4").error / limit, 1e4, 1e-2);
  EXPECT_NEAR(solved("gelu", 2, "normal:0,1", {-65504, 65504}).error,
              solved("gelu", 2, "normal:0,1", {-kInfinity, kInfinity}).error, 1e-12);
  EXPECT_NEAR(solved("gelu", 2, "normal:0,3000", {-kInfinity, kInfinity}).error * 3000,
              0.045189 / std::sqrt(2 * M_PI), 1e-5);
  EXPECT_THROW(solved("gelu", 2, "normal:0,1", {100, 200}), Error);
}

TEST(Scale, SmoothedBiasOfSharpFunctionsIsResolved) {
  EXPECT_NEAR(solved("tanh(100*x)", 3, "normal:0,1").smoothed_bias, 0.00359, 1e-5);
  // solve() has the verifier compute each of them again.
  EXPECT_NO_THROW(solved("softplus:beta=100", 3, "normal:0,1"));
  EXPECT_NO_THROW(solved("softplus:beta=20", 1, "normal:0,1"));
  EXPECT_NO_THROW(solved("silu:beta=50", 3));
  EXPECT_NO_THROW(solved("tanh(1e5*x)", 2, "normal:0,1"));
}

TEST(Scale, MagnitudesBeyondSquaresAreRefusedByName) {
  for (const char* text : {"1e160*x^2", "1e160*tanh(x)", "1e153*x^2", "1e-300*x^2"}) {
    try {
      solved(text, 2);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("squares a double cannot hold"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_NEAR(solved("1e100*tanh(x)", 2).error / solved("tanh", 2).error, 1e200, 1e191);
  EXPECT_NEAR(solved("1e-100*tanh(x)", 2).error / solved("tanh", 2).error, 1e-200, 1e-209);
}

TEST(Scale, AnOffsetOfTheDerivativeCostsItsDigitsOnly) {
  const double gelu = solved("gelu", 3).error;
  EXPECT_NEAR(solved("1e4*x + gelu(x)", 3).error / gelu, 1.0, 1e-8);
  const Table far = solved("1e8*x + gelu(x)", 3);
  EXPECT_NEAR(far.error / gelu, 1.0, 1e-4);
  EXPECT_LE(far.lower_bound, gelu);
}

TEST(Scale, StepFunctionsAreExactAtAnyScale) {
  for (const double end : {1e-6, 10.0, 1e8, 1e12}) {
    EXPECT_EQ(solved("relu", 1, "uniform", {-end, end}).error, 0.0) << end;
    EXPECT_EQ(solved("0.01*x + 0.99*max(x, 0)", 1, "normal:0,1", {-end, end}).error, 0.0) << end;
  }
  EXPECT_EQ(solved("hardtanh", 1, "uniform", {-1e12, 1e12}).error, 0.0);
}

TEST(Scale, AWeightFarFromEveryKinkHasItsMass) {
  const Table table =
      solved("hardtanh", 2, "student-t:0.396268,1.262e-06,15.8", {0.0, 1.262}, Form::intervals);
  EXPECT_EQ(table.levels.back(), 1.0);
  EXPECT_LE(table.error, 1e-20);
}

TEST(Scale, WhatLittleMassSeesCountsToItsDigits) {
  // Closed forms, or sums to forty digits. The swing of f' is 1e7 and more times what it is where
  // the mass lies.
  const auto error = [](const char* function, int bits, const char* weight, double end) {
    const Table table = solved(function, bits, weight, {-end, end});
    EXPECT_LE(table.lower_bound, table.error);
    return table.error;
  };
  EXPECT_NEAR(error("where(x>300,1e65*x,where(x>0,2*x,x))", 1, "laplace:0,1", 500), 0.2574100111,
              1e-9);
  EXPECT_NEAR(error("where(x>20,1e60*x,where(x>0,2*x,x))", 1, "normal:0,1", 30) / 2.7536241e31, 1.0,
              1e-7);
  EXPECT_NEAR(error("where(x>12,1e7*x,x*x)", 2, "normal:0,1", 20), 0.46992739, 1e-8);
  EXPECT_NEAR(error("exp(0.49*x)", 2, "laplace:0,1", 30), 1.34595584, 1e-7);
  EXPECT_NEAR(solved("relu_squared", 3, "student-t:0,1,5", {-kInfinity, kInfinity}).error,
              0.07373024, 1e-8);
  EXPECT_LE(solved("exp(x/3)", 3, "laplace:0,1", {-kInfinity, kInfinity}).relative_gap, 1e-8);
  const Table coded =
      solved("1e-30*sqrt(1 + (3e6*x)^2)/3e6", 2, "normal:0,6e-12", {-1e-9, 2e-6}, Form::unbiased);
  EXPECT_LE(coded.relative_gap, 1e-4);
}

TEST(Scale, ABoundAboveTheTablesOwnErrorIsSeenThrough) {
  const Table table = solved("where(x>12,1e7*x,x*x)", 2, "normal:0,1", {-20, 20});
  for (const double factor : {1.0001, 1.1, 10.0}) {
    Table altered = table;
    altered.lower_bound *= factor;
    altered.error = std::max(table.error, altered.lower_bound);
    altered.relative_gap = (altered.error - altered.lower_bound) / altered.error;
    bool holds = true;
    for (const Finding& finding : verify_table(altered)) {
      if (finding.claim == "lower_bound") holds = finding.holds;
    }
    EXPECT_FALSE(holds) << factor;
  }
}

TEST(Scale, APlateauThatIsReachedByRoundingBelongsToTheGapBefore) {
  // f' is -1 to the last bit halfway to the kink; the verifier took all that stretch for it.
  EXPECT_LE(solved("abs(x - 14840000) - 0.01*tanh(1.5775e-5*(x + 640000))/1.5775e-5", 3, "uniform",
                   {-2e7, 2e7}, Form::unbiased)
                .relative_gap,
            1e-4);
}

TEST(Scale, AThresholdAtAJumpStaysThereToTheLastBit) {
  // The jump is at the double below 0.22.
  const Table table =
      solved("hardtanh(x+1.78,-1.7,2)*tanh(x+1.78)", 3, "normal:-1.78,24.4", {-11.78, 8.22});
  EXPECT_EQ(std::count(table.thresholds.begin(), table.thresholds.end(), 0.21999999999999997), 1);
  Problem problem = table.problem;
  problem.levels = 5;
  EXPECT_LE(patiently_solved(problem).relative_gap, 1e-8);
}

TEST(Scale, AStepFunctionIsItsOwnTableWhateverMassIsThere) {
  EXPECT_EQ(solved("where(x>0,2*x,x)", 1, "laplace:-10,0.05").error, 0.0);
  EXPECT_EQ(solved("where(x>0,1e60*x,x)", 2, "laplace:-10,0.1").error, 0.0);
  EXPECT_EQ(solved("abs(relu6(x))", 2, "laplace:-4.09,0.0432", {-kInfinity, 10}).error, 0.0);
}

TEST(Scale, AnErrorThatRoundingMayMakeUpIsRefused) {
  using testing::HasSubstr;
  using testing::ThrowsMessage;
  EXPECT_THAT(
      [] {
        solved("tanh(3e8*(x + 5e-7))/3e8", 1, "normal:-1e-6,6.4e-9", {-1e-6, 1e-8});
      },
      ThrowsMessage<Error>(HasSubstr("cannot be told from rounding")));
  EXPECT_THAT(
      [] {
        solved("relu_squared", 3, "student-t:0,1,4", {1e4, kInfinity});
      },
      ThrowsMessage<Error>(HasSubstr("give finite ends")));
}

TEST(Scale, AFlatStretchUnderTheMassIsChargedForItsOwnSwing) {
  const Table table = solved("sqrt(1 + (3.97e8*(x + 1e-6))^2)/3.97e8 - 0.01*x", 2,
                             "normal:-8.8e-7,5.02e-12", {-1e-6, 1e-6}, Form::intervals);
  EXPECT_LT(table.relative_gap, 1e-4);
}

TEST(Scale, OscillationsOutsideTheMassCostNothing) {
  const Table near = solved("sin(1e4*x)/1e4", 2, "normal:0,1e-3", {-0.01, 0.01});
  const Table far = solved("sin(1e4*x)/1e4", 2, "normal:0,1e-3", {-0.2, 0.2});
  EXPECT_NEAR(far.error / near.error, 1.0, 1e-9);
  EXPECT_LE(far.relative_gap, 1e-8);
}

TEST(Scale, BinsOfAnyLengthHoldTheirInputs) {
  // Two bins that are 10^8 times as long as the other and hold one input in 10^30; then 2000 whose
  // lengths double 40 times to either side.
  Problem problem;
  problem.function = parse_function("gelu");
  problem.levels = 4;
  problem.domain = {-kInfinity, kInfinity};
  problem.weight.kind = "histogram";
  problem.weight.edges = {-1e9, -10, 10, 1e9};
  problem.weight.masses = {1e-30, 1.0, 1e-30};
  EXPECT_NEAR(patiently_solved(problem).error, 0.00202812548, 1e-10);

  problem.weight.edges.clear();
  problem.weight.masses.assign(2000, 1.0);
  for (int i = -1000; i <= 1000; ++i) {
    problem.weight.edges.push_back(std::copysign(std::exp2(std::abs(i) * 0.04) - 1.0, i));
  }
  const Table table = patiently_solved(problem);
  EXPECT_LE(table.relative_gap, 1e-8);
}

}  // namespace fewbit::scale_test
