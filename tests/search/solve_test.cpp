#include <cmath>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "functions/registry.hpp"
#include "search/search_table.hpp"

namespace fewbit::solver::solve_test {
Problem problem_of(const std::string& function, Form form, int levels,
                   const WeightSpec& weight = {}) {
  Problem problem;
  problem.function = parse_function(function);
  problem.form = form;
  problem.levels = levels;
  problem.weight = weight;
  return problem;
}

const WeightSpec kNormal{"normal", {{"mean", 0.0}, {"sigma", 1.0}}, {}, {}, {}};
const WeightSpec kMixture{"mixture", {{"sigma_min", 0.25}, {"sigma_max", 4.0}}, {}, {}, {}};

struct PaperRow {
  const char* function;
  double error[4];
};

// Few-Bit Backward, Table 1.
const PaperRow kPaper[] = {
    {"gelu", {.1410, .0406, .0119, .0031}},    {"silu", {.2150, .0479, .0170, .0045}},
    {"sigmoid", {.0181, .0038, .0009, .0002}}, {"tanh", {.1584, .0319, .0073, .0017}},
    {"selu", {.2554, .1010, .0184, .0039}},    {"softplus", {.2902, .0541, .0121, .0029}},
};

TEST(Solve, IntervalsAreAtOrBelowThePapersTable1) {
  for (const PaperRow& row : kPaper) {
    for (int bits = 1; bits <= 4; ++bits) {
      const Table table = search_table(problem_of(row.function, Form::intervals, 1 << bits));
      EXPECT_LE(table.error, row.error[bits - 1] + 5e-5) << row.function << " " << bits;
    }
  }
}

TEST(Solve, NeedsTheFunctionOnItsDomainOnly) {
  Problem problem = problem_of("relu", Form::levels, 4);
  problem.function = custom_function("shifted_log", "log(x + 2)");
  problem.domain = {-1.0, 10.0};
  EXPECT_LE(search_table(problem).relative_gap, 1e-9);
}

TEST(Solve, StraightLineOnUnitIntervalGivesEqualSteps) {
  Problem problem = problem_of("relu", Form::intervals, 8);
  problem.function = custom_function("half_square", "x^2/2");
  problem.domain = {0.0, 1.0};
  for (const Form form : {Form::intervals, Form::levels}) {
    problem.form = form;
    const Table table = search_table(problem);
    EXPECT_NEAR(table.error, 1.0 / (12 * 64), 1e-14);
    EXPECT_LE(table.relative_gap, 1e-9);
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(table.levels[i], (static_cast<double>(i) + 0.5) / 8, 1e-12);
    }
  }
}

TEST(Solve, UnbiasedStraightLineGivesEqualSteps) {
  Problem problem = problem_of("relu", Form::unbiased, 5);
  problem.function = custom_function("half_square", "x^2/2");
  problem.domain = {0.0, 1.0};
  const Table table = search_table(problem);
  EXPECT_NEAR(table.error, 4 * std::pow(0.25, 3) / 6, 1e-14);
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(table.levels[i], static_cast<double>(i) / 4, 1e-10);
  EXPECT_TRUE(table.thresholds.empty());
}

class EveryFunction : public testing::TestWithParam<std::string> {};

TEST_P(EveryFunction, IsProvenTo1e9WithOneToFourBits) {
  for (const WeightSpec& weight : {WeightSpec{}, kNormal, kMixture}) {
    for (const Form form : {Form::intervals, Form::levels, Form::unbiased}) {
      for (int bits = 1; bits <= 4; ++bits) {
        const Table table = search_table(problem_of(GetParam(), form, 1 << bits, weight));
        // Sums of numbers near 1 leave 1e-15, which only tiny errors notice.
        EXPECT_LE(table.error - table.lower_bound, 1e-9 * table.error + 3e-15)
            << to_string(form) << " " << weight.kind << " " << bits << " error " << table.error;
        EXPECT_LE(table.residual, 1e-9)
            << to_string(form) << " " << weight.kind << " " << bits << " error " << table.error;
        EXPECT_GE(table.lower_bound, 0.0);
      }
    }
  }
}

TEST_P(EveryFunction, LevelsAreNeverWorseThanTheOtherForms) {
  for (int bits = 1; bits <= 4; ++bits) {
    const double levels = search_table(problem_of(GetParam(), Form::levels, 1 << bits)).error;
    const double intervals = search_table(problem_of(GetParam(), Form::intervals, 1 << bits)).error;
    const double unbiased = search_table(problem_of(GetParam(), Form::unbiased, 1 << bits)).error;
    EXPECT_LE(levels, intervals * (1 + 1e-9) + 1e-15);
    EXPECT_LE(levels, unbiased * (1 + 1e-9) + 1e-15);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const FunctionInfo& info : registry()) names.push_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryFunction, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(Solve, StepFunctionsGetTheExactTableInOneBit) {
  for (const char* name : {"relu", "leaky_relu", "relu6", "threshold", "hardtanh", "hardsigmoid",
                           "hardshrink", "softshrink"}) {
    const Table table = search_table(problem_of(name, Form::levels, 2));
    EXPECT_EQ(table.error, 0.0) << name;
    EXPECT_EQ(table.bits(), 1) << name;
    EXPECT_EQ(table.relative_gap, 0.0) << name;
  }
}

TEST(Solve, EvenDerivativesKeepThresholdsOnTheHalfAxis) {
  const Table table = search_table(problem_of("tanh", Form::intervals, 8));
  EXPECT_EQ(table.symmetry, Symmetry::even);
  EXPECT_EQ(table.thresholds.size(), 7U);
  EXPECT_GT(table.thresholds.front(), 0.0);
}

TEST(Solve, RepeatedLevelsBeatThePapersFormWhereTheDerivativeOvershoots) {
  const Table table = search_table(problem_of("gelu", Form::levels, 8));
  EXPECT_NEAR(table.error, 0.0081, 5e-5);
  EXPECT_EQ(table.codes.size(), 10U);
}

TEST(Solve, ParametersChangeTheMathematics) {
  const Table one = search_table(problem_of("elu", Form::levels, 8));
  const Table half = search_table(problem_of("elu:alpha=0.5", Form::levels, 8));
  EXPECT_NE(one.levels, half.levels);
  const Table silu = search_table(problem_of("silu:beta=2", Form::levels, 4));
  const Table plain = search_table(problem_of("silu", Form::levels, 4));
  // silu_beta'(x) = silu'(beta x); beyond the domain f' is flat.
  for (size_t i = 0; i < plain.levels.size(); ++i) {
    EXPECT_NEAR(silu.levels[i], plain.levels[i], 0.05);
  }
}

TEST(Solve, QuickSearchesComeNear) {
  for (const char* function : {"gelu", "silu", "tanh", "hardswish"}) {
    for (const int levels : {2, 4, 8, 16, 32, 256}) {
      Problem problem = problem_of(function, Form::levels, levels, kNormal);
      const auto goal = [&](bool quick) {
        const Table table = search_table(problem, {.quick = quick});
        EXPECT_LE(table.lower_bound, table.error);
        return problem.objective.smoothed ? table.smoothed_bias * table.smoothed_bias +
                                                problem.objective.lambda * table.error
                                          : table.error;
      };
      EXPECT_LE(goal(true), 1.05 * goal(false)) << function << " " << levels;
      problem.objective.smoothed = true;
      if (levels <= 16) {
        EXPECT_LE(goal(true), 1.05 * goal(false)) << function << " smoothed " << levels;
      }
    }
  }
}

TEST(Solve, RefusesWhatHasNoAnswer) {
  Problem problem = problem_of("relu", Form::levels, 2);
  problem.domain = {2.0, 3.0};
  EXPECT_THROW(search_table(problem), Error);  // f' is constant there
  problem.domain = {3.0, 2.0};
  EXPECT_THROW(search_table(problem), Error);
  problem.domain = {NAN, 2.0};
  EXPECT_THROW(search_table(problem), Error);
  problem.domain = {-INFINITY, 2.0};
  EXPECT_THROW(search_table(problem), Error);  // uniform weight
  problem.domain = {-10.0, 10.0};
  problem.levels = 257;
  EXPECT_THROW(search_table(problem), Error);
}

TEST(Solve, FunctionsThatEndAtTheirDomainAreSolvedThere) {
  Problem problem;
  problem.function = custom_function("my_log", "log(x)");
  problem.domain = {0.1, 10.0};
  problem.levels = 4;
  const Table table = search_table(problem);
  EXPECT_LE(table.relative_gap, 1e-9);
  EXPECT_TRUE(std::isfinite(table.smoothed_bias));
}

TEST(Solve, DigitsThatCarryNoMeaningAreRounded) {
  const Table table = search_table(problem_of("gelu", Form::levels, 4));
  EXPECT_EQ(table.thresholds[1], 0.0);
  EXPECT_EQ(table.thresholds[0], -table.thresholds[2]);
  EXPECT_EQ(table.levels[0] + table.levels[3], 1.0);
}

TEST(Solve, InfiniteDomainsWorkUnderAnIntegrableWeight) {
  Problem problem = problem_of("gelu", Form::levels, 8, kNormal);
  const Table finite = search_table(problem);
  problem.domain = {-INFINITY, INFINITY};
  const Table infinite = search_table(problem);
  EXPECT_NEAR(finite.error, infinite.error, 1e-10);
}
}  // namespace fewbit::solver::solve_test
