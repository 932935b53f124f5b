// What decides about f' at any ratio of domain to feature: range, stretches, pattern.

#include "expression/stretches.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "expression/range.hpp"

namespace fewbit::solver::stretches_test {

/// The interpolant of f' at the points of [lo, hi], at x, by the barycentric formula.
double interpolate(const Derivative& d, const Stretch& s, double x) {
  const std::vector<double> points = stretch_points(s.lo, s.hi);
  double above = 0.0;
  double below = 0.0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (x == points[i]) return d.value(x, s.piece);
    const double angle = M_PI * (static_cast<double>(i) + 0.5) / kStretchPoints;
    const double weight = (i % 2 == 0 ? 1.0 : -1.0) * std::sin(angle) / (x - points[i]);
    above += weight * d.value(points[i], s.piece);
    below += weight;
  }
  return above / below;
}

TEST(Stretches, ShowAllThatTheDerivativeDoes) {
  for (const char* text : {"x*normcdf(x)", "tanh(30*x)", "x*sigmoid(x) + 0.01*tanh(1e3*(x - 5.1))",
                           "softplus(4*x)/4", "x^3/(1 + x^2)"}) {
    const Derivative d(Expression::parse(text), -9, 11);
    const double most = std::max(std::abs(d.min_value()), std::abs(d.max_value()));
    for (const Stretch& s : d.stretches()) {
      EXPECT_LE(s.error, 1e-15 * most) << text;
      for (const double part : {0.013, 0.21, 0.44, 0.77, 0.99}) {
        const double x = s.lo + part * (s.hi - s.lo);
        EXPECT_NEAR(interpolate(d, s, x), d.value(x, s.piece), 2e-14 * most) << text << " " << x;
      }
    }
  }
}

TEST(Stretches, AreFewAtAnyRatioOfDomainToFeature) {
  for (const double end : {1e1, 1e4, 1e8, 1e12, 1e20}) {
    const Derivative d(Expression::parse("x*normcdf(x)"), -end, end);
    EXPECT_LE(d.stretches().size(), 400u) << end;
    EXPECT_NEAR(d.max_value(), 1.1289041451851, 1e-12) << end;
  }
}

TEST(AttainedRange, FindsASpikeWhereverItIs) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(-1.0, 1.0);
  for (const double end : {10.0, 1e6}) {
    for (const double steepness : {1e2, 1e5, 1e7}) {
      const double at = end * place(random);
      const Expression f = Expression::parse("tanh(s*(x - a))", {{"s", steepness}, {"a", at}});
      const AttainedRange range = attained_range(Derivative(f, -end, end));
      EXPECT_GE(range.largest, 0.6 * steepness) << at;
      EXPECT_LE(range.largest, steepness * (1 + 1e-12)) << at;
    }
  }
}

TEST(PatternError, IsAtRoundingLevelOfTheRange) {
  for (const char* text : {"x*normcdf(x)", "tanh(x)", "x*sigmoid(1e4*x)"}) {
    for (const double end : {10.0, 1e5, 1e10}) {
      const Derivative d(Expression::parse(text), -end, end);
      EXPECT_LE(d.pattern_error(), 1e-13 * (d.max_value() - d.min_value())) << text << end;
    }
  }
}

}  // namespace fewbit::solver::stretches_test
