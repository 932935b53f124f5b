// Quotients that are 0/0 at a point: f', f'' and the bounds around it are as good as elsewhere.

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"
#include "tests/expression/reference.hpp"
#include "tests/expression/refusal.hpp"

namespace fewbit::solver::quotient_test {

struct Quotient {
  const char* text;
  const char* limit;
  double x = 0.0;
  double lo = -5.0;
  double hi = 6.0;
};

std::string with_limit(const Quotient& q) {
  return "where(x == " + std::to_string(q.x) + ", " + q.limit + ", " + q.text + ")";
}

const Quotient kQuotients[] = {
    {"expm1(x)/x", "1"},
    {"sin(x)/x", "1"},
    {"tanh(x)/x", "1"},
    {"(1 - cos(x))/x^2", "0.5"},
    {"x/expm1(x)", "1"},
    {"log(x)/(x - 1)", "1", 1.0, 0.5, 3.0},
    {"log1p(x)/x", "1", 0.0, -0.5, 5.0},
    {"tanh(expm1(x)/x)", "tanh(1)"},
    {"sin(x)/x + tanh(30*x)/x", "31"},
    {"expm1(1e4*x)/(1e4*x)", "1", 0.0, -1e-3, 1e-3},
    {"expm1(1e-4*x)/(1e-4*x)", "1"},
    {"(x - sin(x))/x^3", "1/6"},
    {"tanh(x - 2)/(x - 2)", "1", 2.0},
    {"tanh(x)/sin(x)", "1", 0.0, -3.0, 2.0},
    {"x^2/(1 - cos(x))", "2", 0.0, -3.0, 2.0},
    {"(exp(x) - 1)/x", "1"},
};

/// Of the formula, by many digits.
Jet<double> exact_at(const Expression& f, double x) {
  const auto jet = f.evaluate(Jet<Wide>{Wide(x), Wide(1), Wide(0)});
  return {static_cast<double>(jet.value), static_cast<double>(jet.first),
          static_cast<double>(jet.second)};
}

/// From 1e-6 of the domain on, on both sides of the singularity.
std::vector<double> points_around(const Quotient& q) {
  std::vector<double> points;
  for (double away = 1e-6 * (q.hi - q.lo); away < q.hi - q.lo; away *= 1.17) {
    for (const double x : {q.x - away, q.x + away}) {
      if (x > q.lo && x < q.hi) points.push_back(x);
    }
  }
  return points;
}

std::vector<double> borders(const std::string& text, double lo, double hi) {
  return Derivative(Expression::parse(text), lo, hi).borders();
}

TEST(Quotient, HasItsDerivativesToRoundingOnBothSidesOfTheSingularity) {
  for (const Quotient& q : kQuotients) {
    const Expression f = Expression::parse(q.text);
    const Derivative d(Expression::parse(with_limit(q)), q.lo, q.hi);
    const double slope = std::max(std::abs(d.min_value()), std::abs(d.max_value()));
    // What f'' may be at the scale on which f' moves that far.
    const double bend = std::max(std::abs(d.slope(q.x)), slope / (q.hi - q.lo));
    for (const double x : points_around(q)) {
      const Jet<double> exact = exact_at(f, x);
      EXPECT_NEAR(d.value(x), exact.first, 1e-13 * slope) << q.text << " at " << x;
      EXPECT_NEAR(d.slope(x), exact.second, 1e-11 * (bend + std::abs(exact.second)))
          << q.text << " at " << x;
    }
  }
}

TEST(Quotient, HasItsLimitsAtTheSingularityItself) {
  const Derivative exponential(Expression::parse("where(x == 0, 1, expm1(x)/x)"), -10, 10);
  EXPECT_EQ(exponential.value(0.0), 0.5);
  EXPECT_DOUBLE_EQ(exponential.slope(0.0), 1.0 / 3.0);
  const Derivative wave(Expression::parse("where(x == 0, 0.5, (1 - cos(x))/x^2)"), -10, 10);
  EXPECT_EQ(wave.value(0.0), 0.0);
  EXPECT_DOUBLE_EQ(wave.slope(0.0), -1.0 / 12.0);
}

TEST(Quotient, IsEnclosedByItsBoundsAcrossTheSingularity) {
  for (const Quotient& q : kQuotients) {
    const Expression f = Expression::parse(q.text);
    const Derivative d(Expression::parse(with_limit(q)), q.lo, q.hi);
    const size_t piece = d.piece_of(q.x);
    const double lo = d.borders()[piece];
    const double hi = d.borders()[piece + 1];
    ASSERT_LT(lo, q.x) << q.text;
    ASSERT_GT(hi, q.x) << q.text;
    const Interval first = d.bounds(lo, hi, piece);
    const Interval second = d.slope_bounds(lo, hi, piece);
    EXPECT_TRUE(is_bounded(first) && is_bounded(second)) << q.text;
    for (const double x : points_around(q)) {
      if (x <= lo || x >= hi) continue;
      const Jet<double> exact = exact_at(f, x);
      EXPECT_GE(exact.first, first.lower() - 1e-15 * magnitude(first)) << q.text << " at " << x;
      EXPECT_LE(exact.first, first.upper() + 1e-15 * magnitude(first)) << q.text << " at " << x;
    }
  }
}

TEST(Quotient, MayHaveItsSingularityBesideThePieceOrTheDomain) {
  EXPECT_EQ(refusal("where(abs(x) < 1e-6, 1, expm1(x)/x)"), "accepted");
  EXPECT_EQ(refusal("where(x < 1e-8, 1, tanh(x)/x)"), "accepted");
  EXPECT_EQ(refusal("expm1(x)/x", 1e-9, 10), "accepted");
  EXPECT_EQ(refusal("where(x <= 0, 0, expm1(x)/x)"), "accepted");
  EXPECT_EQ(refusal("where(x == 0, 1, expm1(x)/x)", 0, 10), "accepted");
}

TEST(Quotient, CutsThePieceAroundTheSingularityOnly) {
  const std::vector<double> cuts = borders("where(x == 1, 1, log(x)/(x - 1))", 0.5, 3);
  ASSERT_EQ(cuts.size(), 4u);
  EXPECT_EQ(cuts[2] - 1.0, 1.0 - cuts[1]);
  EXPECT_EQ(borders("x/(1 + x^2)", -10, 10).size(), 2u);
  EXPECT_EQ(borders("x/(1 + abs(x))", -10, 10).size(), 3u);
  EXPECT_EQ(borders("expm1(x)/x", 5, 10).size(), 2u);
}

TEST(Quotient, IsRefusedWhereTheFunctionAsWrittenIsNotFinite) {
  EXPECT_EQ(refusal("expm1(x)/x"),
            "expression: not finite at x = 0: expm1(x) / x; its limit there is 1, so write "
            "where(x == 0, 1, ...)");
  // Coefficients that cancel, and polynomials less their leading terms, know too little.
  for (const char* text : {"where(x == 0, 0, (tanh(x)/x - 1)/x)",
                           "where(x == 0, 1, (1e6*x^3 + sin(x) - 1e6*x^3)/x)"}) {
    EXPECT_NE(refusal(text).find("a quotient is 0/0, and its terms cancel too far"),
              std::string::npos)
        << refusal(text);
  }
  EXPECT_EQ(refusal("2 + (1 - cos(x - 1))/(x - 1)"),
            "expression: not finite at x = 1: 2 + (1 - cos(x - 1)) / (x - 1); its limit there is "
            "2, so write where(x == 1, 2, ...)");
  EXPECT_EQ(refusal("where(x == 0, 1, cos(x)/x)"),
            "expression: not finite at x = 0: where(x == 0, 1, cos(x) / x)");
  EXPECT_EQ(refusal("where(x == 0, 1, sin(x)/x^2)"),
            "expression: not finite at x = 0: where(x == 0, 1, sin(x) / x^2)");
}

TEST(Quotient, IsRefusedWhereItsSingleValueIsNotTheLimit) {
  EXPECT_EQ(refusal("where(x == 0, 5, expm1(x)/x)"),
            "expression: is 5 at x = 0, but its limit there is 1: where(x == 0, 5, expm1(x) / x)");
  EXPECT_EQ(refusal("where(x == 0, 0.1666667, (x - sin(x))/x^3)"), "accepted");
  EXPECT_EQ(refusal("where(x > 0, expm1(x)/x, where(x == 0, 5, 0))"), "accepted");
}

}  // namespace fewbit::solver::quotient_test
