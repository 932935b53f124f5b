#include "verify/bound.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "slow_table.hpp"

namespace fewbit::solver::bound_test {
/// Least total over all cuts at `points`: the plain cubic program.
double brute_force(const std::vector<LinePoint>& points, const PartCosts& cost, int parts) {
  std::vector<double> total(points.size(), HUGE_VAL);
  total[0] = 0.0;
  for (int part = 0; part < parts; ++part) {
    std::vector<double> next(points.size(), HUGE_VAL);
    for (size_t t = 0; t < points.size(); ++t) {
      for (size_t s = 0; s <= t; ++s) {
        next[t] = std::min(next[t], total[s] + cost(points[s], points[t]));
      }
    }
    total = next;
  }
  return total.back();
}

std::vector<LinePoint> grid(const Line& line, double lo, double hi, int cells) {
  std::vector<LinePoint> points = {line.fixed_points().front()};
  for (int i = 1; i < cells; ++i) points.push_back(line.point(lo + (hi - lo) * i / cells));
  points.push_back(line.fixed_points().back());
  return points;
}

BoundRequest request(PartCost cost, int parts) {
  BoundRequest request;
  request.cost = cost;
  request.parts = parts;
  request.claim = HUGE_VAL;
  request.attained = HUGE_VAL;
  request.rounding = 1e-13;
  return request;
}

/// The bound is below what a fine grid attains, by no more than the grid can miss.
void expect_tight(const Line& line, double lo, double hi, PartCost cost, int parts) {
  const PartCosts costs{cost, line.center()};
  const double attained = brute_force(grid(line, lo, hi, 800), costs, parts);
  const double bound = lower_bound_of(line, request(cost, parts));
  EXPECT_LE(bound, attained);
  EXPECT_GE(bound, attained * (1.0 - 2e-3));
}

TEST(Bound, IsTightForIntervals) {
  for (const char* f : {"x*normcdf(x)", "tanh(x)", "where(x > 0, x, expm1(x))"}) {
    const InputAxis axis(make_problem(f, Form::intervals, 2, {}, {-5, 5}), false);
    for (const int parts : {1, 2, 3, 5}) {
      expect_tight(XLine(axis), -5, 5, PartCost::spread, parts);
    }
  }
}

TEST(Bound, IsTightForLevelsAndUnbiased) {
  for (const char* f : {"x*normcdf(x)", "tanh(x)", "x*sigmoid(x)"}) {
    const InputAxis axis(make_problem(f, Form::levels, 2, normal_weight(0.2, 1.5), {-5, 5}), false);
    const ValueMeasure values(axis);
    for (const int parts : {1, 2, 3, 5}) {
      expect_tight(ValueLine(values), values.lowest(), values.highest(), PartCost::spread, parts);
      expect_tight(ValueLine(values), values.lowest(), values.highest(), PartCost::coding, parts);
    }
  }
}

TEST(Bound, ReachesClosedFormsToRounding) {
  const InputAxis axis(make_problem("x^2/2", Form::intervals, 2, {}, {0, 1}), false);
  const ValueMeasure values(axis);
  for (const int k : {2, 3, 7, 16}) {
    auto ask = request(PartCost::spread, k);
    ask.rounding = 1e-15;
    const double spread = 1.0 / (12.0 * k * k);
    EXPECT_NEAR(lower_bound_of(XLine(axis), ask), spread, 1e-14);
    EXPECT_NEAR(lower_bound_of(ValueLine(values), ask), spread, 1e-14);
    ask.cost = PartCost::coding;
    EXPECT_NEAR(lower_bound_of(ValueLine(values), ask), 2.0 * spread, 1e-14);
  }
}

TEST(Bound, StopsAtTheClaim) {
  const InputAxis axis(make_problem("tanh(x)", Form::intervals, 2), true);
  auto ask = request(PartCost::spread, 8);
  const double best = lower_bound_of(XLine(axis), ask);
  ask.claim = best * 0.9;
  const double enough = lower_bound_of(XLine(axis), ask);
  EXPECT_GE(enough, ask.claim);
  EXPECT_LT(enough, best);
}

TEST(Bound, FindsNothingToCutInASmallerSpread) {
  // Atoms only: as many parts as values cost nothing.
  const InputAxis axis(make_problem("clamp(x, -1, 1)", Form::levels, 2), false);
  const ValueMeasure values(axis);
  EXPECT_EQ(lower_bound_of(ValueLine(values), request(PartCost::spread, 2)), 0.0);
  EXPECT_EQ(values.atoms(), (std::vector<double>{0.0, 1.0}));
}

TEST(ValueMeasure, CountsMassBelowAValue) {
  const InputAxis axis(make_problem("x^3/3", Form::levels, 2, {}, {-2, 1}), false);  // f' = x^2
  const ValueMeasure values(axis);
  EXPECT_NEAR(values.below(0.25, true).mass, 1.0, 1e-14);
  EXPECT_NEAR(values.below(2.25, true).mass, 2.5, 1e-14);
  EXPECT_EQ(values.below(0.0, false).mass, 0.0);
  EXPECT_NEAR(values.below(4.0, true).mass, 3.0, 1e-14);
}
}  // namespace fewbit::solver::bound_test
