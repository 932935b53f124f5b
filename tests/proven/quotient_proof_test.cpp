// Tables of quotients that are 0/0 at a point, against those of formulas without the quotient, and
// against the slow reference.

#include <cmath>

#include <gtest/gtest.h>

#include "functions/registry.hpp"
#include "proven/solve.hpp"
#include "search/setting.hpp"
#include "tests/proven/slow_reference.hpp"
#include "weights/parse.hpp"
#include "weights/weight.hpp"

namespace fewbit::test::quotient_proof_test {

using namespace fewbit::solver;

Problem problem_of(const std::string& text, Domain domain, Form form, const std::string& weight) {
  Problem problem;
  problem.function = custom_function("own", text);
  problem.levels = 8;
  problem.weight = parse_weight(weight);
  problem.domain = domain;
  problem.form = form;
  return problem;
}

struct Pair {
  const char* quotient;
  const char* plain;
  Domain domain;
};

const Pair kPairs[] = {
    {"where(x == 0, 0, x*tanh(x)/x)", "tanh(x)", {-10, 10}},
    {"where(x == 0, 2, expm1(2*x)/expm1(x))", "exp(x)", {-4, 3}},
    {"where(abs(x) < 1e-9, 2 + x, expm1(x)/tanh(x/2))", "exp(x)", {-4, 3}},
    {"where(x == 0, 0, (1 - cos(2*x))/sin(x))", "2*sin(x)", {-3, 2}},
    {"where(x == 1, 3, (x^3 - 1)/(x - 1))", "x^2 + x", {-2, 3}},
    {"where(x == 0, 0, 1e3*(1 - cos(2e3*x))/sin(1e3*x))", "2e3*sin(1e3*x)", {-3e-3, 2e-3}},
    {"where(x == 2, 0, tanh(x - 2)^2/tanh(x - 2))", "tanh(x - 2)", {-3, 6}},
};

void expect_same(const Table& a, const Table& b, double width, const std::string& text) {
  ASSERT_EQ(a.thresholds.size(), b.thresholds.size()) << text;
  ASSERT_EQ(a.levels.size(), b.levels.size()) << text;
  EXPECT_EQ(a.codes, b.codes) << text;
  const double range = b.levels.back() - b.levels.front();
  for (size_t i = 0; i < a.thresholds.size(); ++i) {
    EXPECT_NEAR(a.thresholds[i], b.thresholds[i], 1e-10 * width) << text << " " << i;
  }
  for (size_t i = 0; i < a.levels.size(); ++i) {
    EXPECT_NEAR(a.levels[i], b.levels[i], 1e-10 * range) << text << " " << i;
  }
  EXPECT_NEAR(a.error / b.error, 1.0, 1e-9) << text;
}

TEST(QuotientProof, TablesAreThoseOfTheFormulaWithoutTheQuotient) {
  for (const Pair& pair : kPairs) {
    for (const Form form : {Form::levels, Form::intervals, Form::unbiased}) {
      const Table table = solve(problem_of(pair.quotient, pair.domain, form, "uniform"));
      const Table plain = solve(problem_of(pair.plain, pair.domain, form, "uniform"));
      expect_same(table, plain, pair.domain.hi - pair.domain.lo, pair.quotient);
      EXPECT_LE(table.relative_gap, 1e-8) << pair.quotient;
    }
  }
}

TEST(QuotientProof, ErrorAndBoundHoldAgainstTheSlowReference) {
  for (const char* text :
       {"where(x == 0, 1, sin(x)/x)", "where(x == 0, 1, expm1(x)/x)",
        "where(x == 0, 1, x/expm1(x))", "where(x == 0, 0.5, (1 - cos(x))/x^2)",
        "tanh(where(abs(x) < 1e-6, 1, expm1(x)/x))",
        "where(x == 0, 1, sin(x)/x) + where(x == 1, 1, tanh(9*(x - 1))/(9*(x - 1)))"}) {
    for (const char* weight : {"uniform", "normal:0,0.5"}) {
      const Problem problem = problem_of(text, {-5, 6}, Form::levels, weight);
      const Table table = solve(problem);
      const auto density = make_weight(problem.weight);
      const SlowReference slow(problem, effective_domain(problem.domain, *density),
                               {{0.0, 1.0}, 1e-3}, table.thresholds);
      EXPECT_NEAR(table.error / slow.error(table), 1.0, 1e-6) << text << " " << weight;
      EXPECT_LE(table.lower_bound, slow.lloyd(problem.levels) * (1.0 + 1e-6)) << text;
    }
  }
}

TEST(QuotientProof, SmoothedTablesSeeNoCornerAtTheCuts) {
  const auto solved = [](const char* text) {
    Problem problem = problem_of(text, {-10, 10}, Form::levels, "normal:0,1");
    problem.objective.smoothed = true;
    return solve(problem);
  };
  expect_same(solved("where(x == 0, 0, x*tanh(x)/x)"), solved("tanh(x)"), 20.0, "smoothed");
}

}  // namespace fewbit::test::quotient_proof_test
