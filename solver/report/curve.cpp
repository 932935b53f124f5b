#include "report/curve.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/infinity.hpp"
#include "expression/derivative.hpp"
#include "functions/registry.hpp"
#include "weights/discrete.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

namespace {

/// Outside of the active part f' stays this close to its end value, relative to its swing.
constexpr double kQuiet = 0.004;

/// `weight`: the problem's, null where it is single values.
Domain finite_domain(const Problem& problem, const Weight* weight) {
  if (!weight) return discrete_weight(problem.weight, problem.domain).domain;
  Domain domain = problem.domain;
  if (std::isinf(domain.lo) || std::isinf(domain.hi)) {
    const Domain support = weight->support();
    domain.lo = std::max(domain.lo, std::isinf(support.lo) ? -10.0 : support.lo);
    domain.hi = std::min(domain.hi, std::isinf(support.hi) ? 10.0 : support.hi);
  }
  return domain;
}

/// Between `still` and `moving`: where `moved` turns true, at the scale of the feature there.
template <class Moved>
double turn_of(double still, double moving, const Moved& moved) {
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (still + moving);
    (moved(middle) ? moving : still) = middle;
  }
  return moving;
}

/// The smallest range outside of which f' is quiet and the table has no threshold.
Domain active_part(const Derivative& derivative, const std::vector<Step>& steps) {
  constexpr int kProbes = 2000;
  const double lo = derivative.lo();
  const double hi = derivative.hi();
  const double quiet = kQuiet * (derivative.max_value() - derivative.min_value());
  const auto probe = [&](int i) { return lo + (hi - lo) * i / kProbes; };
  const auto left = [&](double x) {
    return std::abs(derivative.value(x) - derivative.value(lo)) > quiet;
  };
  const auto right = [&](double x) {
    return std::abs(derivative.value(x) - derivative.value(hi)) > quiet;
  };
  int first = 0;
  while (first < kProbes && !left(probe(first))) ++first;
  int last = kProbes;
  while (last > 0 && !right(probe(last))) --last;
  Domain part{kInfinity, -kInfinity};
  if (left(probe(first))) part.lo = turn_of(probe(std::max(first - 1, 0)), probe(first), left);
  if (right(probe(last))) part.hi = turn_of(probe(std::min(last + 1, kProbes)), probe(last), right);
  const auto include = [&](double x) {
    part.lo = std::min(part.lo, x);
    part.hi = std::max(part.hi, x);
  };
  for (size_t i = 1; i < steps.size(); ++i) include(steps[i].lo);
  // What lies between two probes has its kinks.
  for (size_t i = 1; i + 1 < derivative.borders().size(); ++i) include(derivative.borders()[i]);
  return part.lo <= part.hi ? part : Domain{lo, hi};
}

/// Some room on both sides, and the same room on both where zero is inside a symmetric domain.
Domain framed(Domain part, const Domain& domain) {
  const double width = part.hi - part.lo;
  const double share = 0.03 * (domain.hi - domain.lo);
  const double room = width > 0.0 ? std::max(0.12 * width, std::min(share, width)) : share;
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

constexpr int kColumns = 180;

/// Of every column that a picture can show the mean density.
std::vector<double> column_densities(const Weight& weight, const Domain& view) {
  constexpr int kPerColumn = 8;
  const double width = (view.hi - view.lo) / kColumns;
  std::vector<double> sums(kColumns, 0.0);
  for (int i = 0; i < kColumns; ++i) {
    for (int j = 0; j < kPerColumn; ++j) {
      sums[static_cast<size_t>(i)] +=
          weight.density(view.lo + width * (i + (j + 0.5) / kPerColumn));
    }
  }
  return sums;
}

/// The same of single values.
std::vector<double> column_densities(const WeightSpec& weight, const Domain& view) {
  std::vector<double> sums(kColumns, 0.0);
  for (size_t i = 0; i < weight.values.size(); ++i) {
    const double place = (weight.values[i] - view.lo) / (view.hi - view.lo);
    if (!(place >= 0.0 && place <= 1.0)) continue;
    const auto column = static_cast<size_t>(place * kColumns);
    sums[std::min<size_t>(column, kColumns - 1)] += weight.masses[i];
  }
  return sums;
}

/// Relative to the largest; zero outside of the domain's weight. `weight`: as of finite_domain().
std::vector<Point> sample_density(const Problem& problem, const Weight* weight,
                                  const Domain& view) {
  const std::vector<double> sums =
      weight ? column_densities(*weight, view) : column_densities(problem.weight, view);
  const double most = *std::max_element(sums.begin(), sums.end());
  if (!(most > 0.0)) return {};
  const double width = (view.hi - view.lo) / kColumns;
  std::vector<Point> points;
  for (size_t i = 0; i < sums.size(); ++i) {
    points.push_back({view.lo + width * (static_cast<double>(i) + 0.5), sums[i] / most});
  }
  points.front().x = view.lo;
  points.back().x = view.hi;
  return points;
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
  const Problem& problem = table.problem;
  const std::unique_ptr<Weight> weight =
      problem.weight.is_discrete() ? nullptr : make_weight(problem.weight);
  const Domain domain = finite_domain(problem, weight.get());
  const Derivative derivative(expression_of(problem.function), domain.lo, domain.hi);
  std::vector<Step> steps = steps_of(table);
  const Domain view = framed(active_part(derivative, steps), domain);
  Curve curve{view.lo,
              view.hi,
              kInfinity,
              -kInfinity,
              sample(derivative, view, points),
              {},
              sample_density(problem, weight.get(), view)};
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

}  // namespace fewbit::solver
