#include "report/curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "expression/derivative.hpp"
#include "functions/registry.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {
inline namespace reporting {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Outside of the active part f' stays this close to its end value, relative to its swing.
constexpr double kQuiet = 0.004;

Domain finite_domain(const Problem& problem) {
  Domain domain = problem.domain;
  if (std::isinf(domain.lo) || std::isinf(domain.hi)) {
    const Domain support = make_weight(problem.weight)->support();
    domain.lo = std::max(domain.lo, std::isinf(support.lo) ? -10.0 : support.lo);
    domain.hi = std::min(domain.hi, std::isinf(support.hi) ? 10.0 : support.hi);
  }
  return domain;
}

/// The smallest range outside of which f' is quiet and the table has no threshold.
Domain active_part(const Derivative& derivative, const std::vector<Step>& steps) {
  constexpr int kProbes = 2000;
  const double lo = derivative.lo();
  const double hi = derivative.hi();
  const double quiet = kQuiet * (derivative.max_value() - derivative.min_value());
  const auto probe = [&](int i) { return lo + (hi - lo) * i / kProbes; };
  const auto moved = [&](int i, double end) {
    return std::abs(derivative.value(probe(i)) - end) > quiet;
  };
  int first = 0;
  while (first < kProbes && !moved(first, derivative.value(lo))) ++first;
  int last = kProbes;
  while (last > first && !moved(last, derivative.value(hi))) --last;
  Domain part{probe(first), probe(last)};
  for (size_t i = 1; i < steps.size(); ++i) {
    part.lo = std::min(part.lo, steps[i].lo);
    part.hi = std::max(part.hi, steps[i].lo);
  }
  return part;
}

/// Some room on both sides, and the same room on both where zero is inside a symmetric domain.
Domain framed(Domain part, const Domain& domain) {
  const double room = std::max(0.12 * (part.hi - part.lo), 0.03 * (domain.hi - domain.lo));
  part.lo -= room;
  part.hi += room;
  if (domain.lo == -domain.hi) {
    part.hi = std::max(part.hi, -part.lo);
    part.lo = -part.hi;
  }
  return {std::max(part.lo, domain.lo), std::min(part.hi, domain.hi)};
}

std::vector<std::vector<Point>> sample(const Derivative& derivative, const Domain& view,
                                       size_t points) {
  std::vector<std::vector<Point>> pieces;
  const auto& borders = derivative.borders();
  for (size_t piece = 0; piece + 1 < borders.size(); ++piece) {
    const double a = std::max(borders[piece], view.lo);
    const double b = std::min(borders[piece + 1], view.hi);
    if (!(a < b)) continue;
    const double share = (b - a) / (view.hi - view.lo);
    const auto count = static_cast<size_t>(std::ceil(share * static_cast<double>(points))) + 2;
    std::vector<Point> run;
    for (size_t i = 0; i < count; ++i) {
      const double x = a + (b - a) * static_cast<double>(i) / static_cast<double>(count - 1);
      run.push_back({x, derivative.value(x, piece)});
    }
    pieces.push_back(std::move(run));
  }
  return pieces;
}

}  // namespace

std::vector<Step> steps_of(const Table& table) {
  if (table.codes.empty()) return {};
  std::vector<double> cuts = table.thresholds;
  std::vector<int> codes = table.codes;
  if (table.symmetry == Symmetry::even) {
    for (const double t : table.thresholds) cuts.insert(cuts.begin(), -t);
    codes.clear();
    for (size_t i = table.codes.size(); i-- > 1;) codes.push_back(table.codes[i]);
    codes.insert(codes.end(), table.codes.begin(), table.codes.end());
  }
  std::vector<Step> steps;
  for (size_t i = 0; i < codes.size(); ++i) {
    const double lo = i == 0 ? -kInfinity : cuts[i - 1];
    const double hi = i == cuts.size() ? kInfinity : cuts[i];
    steps.push_back({lo, hi, codes[i], table.levels[static_cast<size_t>(codes[i])]});
  }
  return steps;
}

Curve sample_curve(const Table& table, size_t points) {
  const Domain domain = finite_domain(table.problem);
  const Derivative derivative(expression_of(table.problem.function), domain.lo, domain.hi);
  std::vector<Step> steps = steps_of(table);
  const Domain view = framed(active_part(derivative, steps), domain);
  Curve curve{view.lo, view.hi, kInfinity, -kInfinity, sample(derivative, view, points), {}};
  for (const auto& run : curve.pieces) {
    for (const auto& point : run) {
      curve.y_min = std::min(curve.y_min, point.y);
      curve.y_max = std::max(curve.y_max, point.y);
    }
  }
  for (const double level : table.levels) {
    curve.y_min = std::min(curve.y_min, level);
    curve.y_max = std::max(curve.y_max, level);
  }
  for (Step step : steps) {
    step.lo = std::max(step.lo, view.lo);
    step.hi = std::min(step.hi, view.hi);
    if (step.lo < step.hi) curve.steps.push_back(step);
  }
  return curve;
}

}  // namespace reporting
}  // namespace fewbit::solver
