#include "slow_table.hpp"

#include <algorithm>
#include <cmath>

#include "verify/axis.hpp"
#include "verify/bias.hpp"
#include "verify/conditions.hpp"

namespace fewbit::solver {

Problem make_problem(const std::string& expression, Form form, int levels, const WeightSpec& weight,
                     Domain domain) {
  Problem problem;
  problem.function = {"my_act", {}, expression};
  problem.form = form;
  problem.levels = levels;
  problem.weight = weight;
  problem.domain = domain;
  return problem;
}

WeightSpec normal_weight(double mean, double sigma) {
  return {"normal", {{"mean", mean}, {"sigma", sigma}}, {}, {}, {}};
}

namespace {

/// Thresholds and codes that take every x to its nearest level.
void cut_at_midpoints(Table& table, const InputAxis& axis) {
  struct Crossing {
    double x;
    int code;
  };
  std::vector<Crossing> crossings;
  const auto& levels = table.levels;
  const auto nearest = [&](double value) {
    int code = 0;
    while (code + 1 < static_cast<int>(levels.size()) &&
           value >
               (levels[static_cast<size_t>(code)] + levels[static_cast<size_t>(code) + 1]) / 2) {
      ++code;
    }
    return code;
  };
  for (const Branch& branch : axis.derivative().branches()) {
    std::vector<double> cuts = {branch.lo};
    for (size_t j = 0; j + 1 < levels.size(); ++j) {
      const double middle = (levels[j] + levels[j + 1]) / 2;
      const auto [small, large] = std::minmax(branch.value_lo, branch.value_hi);
      if (middle > small && middle < large) cuts.push_back(axis.derivative().solve(branch, middle));
    }
    cuts.push_back(branch.hi);
    std::sort(cuts.begin(), cuts.end());
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      const double inside = cuts[i] + (cuts[i + 1] - cuts[i]) / 2;
      crossings.push_back({cuts[i], nearest(axis.derivative().value(inside, branch.piece))});
    }
  }
  table.thresholds.clear();
  table.codes = {crossings.front().code};
  for (const auto& [x, code] : crossings) {
    if (code == table.codes.back()) continue;
    table.thresholds.push_back(x);
    table.codes.push_back(code);
  }
}

double move_to_means(Table& table, const InputAxis& axis) {
  std::vector<AxisMoments> sets(table.levels.size());
  for (size_t i = 0; i < table.codes.size(); ++i) {
    const auto code = static_cast<size_t>(table.codes[i]);
    const double from = i > 0 ? table.thresholds[i - 1] : axis.lo();
    const double to = i < table.thresholds.size() ? table.thresholds[i] : axis.hi();
    sets[code] += axis.integrate(from, to, table.levels[code]);
  }
  double moved = 0.0;
  for (size_t j = 0; j < sets.size(); ++j) {
    const double shift = sets[j].first / sets[j].mass;
    table.levels[j] += shift;
    moved = std::max(moved, std::fabs(shift));
  }
  return moved;
}

/// Integral of (v - a)+ over values below b, by the x axis.
double pull(const InputAxis& axis, double a, double b, bool from_right) {
  double sum = 0.0;
  for (const Branch& branch : axis.derivative().branches()) {
    const auto [small, large] = std::minmax(branch.value_lo, branch.value_hi);
    if (large <= a || small >= b) continue;
    double x0 = branch.lo;
    double x1 = branch.hi;
    double& at_small = branch.direction >= 0 ? x0 : x1;
    double& at_large = branch.direction >= 0 ? x1 : x0;
    if (small < a) at_small = axis.derivative().solve(branch, a);
    if (large > b) at_large = axis.derivative().solve(branch, b);
    const AxisMoments here = axis.integrate(x0, x1, from_right ? b : a);
    sum += from_right ? -here.first : here.first;
  }
  return sum;
}

/// Puts each inner level where it balances its neighbours; returns the largest move.
double balance(std::vector<double>& levels, const InputAxis& axis) {
  double moved = 0.0;
  for (size_t j = 1; j + 1 < levels.size(); ++j) {
    double lo = levels[j - 1];
    double hi = levels[j + 1];
    while (true) {
      const double middle = lo + (hi - lo) / 2;
      if (!(lo < middle && middle < hi)) break;
      const bool high =
          pull(axis, levels[j - 1], middle, false) > pull(axis, middle, levels[j + 1], true);
      (high ? hi : lo) = middle;
    }
    moved = std::max(moved, std::fabs(levels[j] - lo));
    levels[j] = lo;
  }
  return moved;
}

}  // namespace

Table slow_table(const Problem& problem, std::vector<double> start, Symmetry symmetry) {
  Table table;
  table.problem = problem;
  table.symmetry = symmetry;
  table.levels = std::move(start);
  table.solver = "slow";
  const InputAxis axis(problem, symmetry == Symmetry::even);
  const bool unbiased = problem.form == Form::unbiased;
  if (unbiased) {
    table.levels.front() = axis.derivative().min_value();
    table.levels.back() = axis.derivative().max_value();
  }
  for (int step = 0; step < 3000; ++step) {
    if (!unbiased) cut_at_midpoints(table, axis);
    const double moved = unbiased ? balance(table.levels, axis) : move_to_means(table, axis);
    if (moved < 1e-16) break;
  }
  if (!unbiased) cut_at_midpoints(table, axis);
  Findings ignored;
  const Measured measured =
      unbiased ? check_unbiased(table, axis, ignored) : check_intervals(table, axis, true, ignored);
  table.error = measured.error;
  table.residual = measured.residual;
  table.lower_bound = table.error * (1.0 - 1e-10);
  table.relative_gap = table.error > 0.0 ? (table.error - table.lower_bound) / table.error : 0.0;
  table.smoothed_bias = recompute_bias(table);
  return table;
}

}  // namespace fewbit::solver
