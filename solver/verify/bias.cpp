#include "verify/bias.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "verify/gauss.hpp"

namespace fewbit::solver {
inline namespace verification {

namespace {

/// The error of a table at the nodes of a fine quadrature over [lo, hi].
class ErrorNodes {
 public:
  ErrorNodes(const Table& table, const Derivative& f, double lo, double hi, double spread) {
    std::vector<double> cuts = f.borders();
    for (const double t : table.thresholds) {
      cuts.push_back(t);
      if (table.symmetry == Symmetry::even) cuts.push_back(-t);
    }
    if (table.problem.form == Form::unbiased) add_crossings(table, f, cuts);
    cuts.insert(cuts.end(), {lo, hi});
    std::erase_if(cuts, [&](double x) { return !(x >= lo && x <= hi); });
    std::sort(cuts.begin(), cuts.end());
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      for (double from = cuts[i]; from < cuts[i + 1];) {
        // f' changes over lengths of about 1 near zero, of a share of |x| far out.
        const double width = 0.5 * std::min(spread, std::max(1.0, std::fabs(from) / 16));
        const double to = cuts[i + 1] - from < 1.5 * width ? cuts[i + 1] : from + width;
        add_panel(table, f, from, to - from);
        from = to;
      }
    }
  }

  double bias(double mean, double spread) const {
    const auto below = [](const Node& node, double x) { return node.x < x; };
    auto node = std::lower_bound(nodes_.begin(), nodes_.end(), mean - kReach * spread, below);
    double sum = 0.0;
    for (; node != nodes_.end() && node->x < mean + kReach * spread; ++node) {
      const double z = (node->x - mean) / spread;
      sum += node->error * std::exp(-0.5 * z * z);
    }
    return sum / (spread * std::sqrt(2.0 * std::numbers::pi));
  }

 private:
  struct Node {
    double x;
    double error;  ///< times the quadrature's weight
  };

  /// Where f' leaves the range of the levels: the error bends there.
  static void add_crossings(const Table& table, const Derivative& f, std::vector<double>& cuts) {
    for (const Branch& branch : f.branches()) {
      const auto [small, large] = std::minmax(branch.value_lo, branch.value_hi);
      for (const double level : {table.levels.front(), table.levels.back()}) {
        if (small < level && level < large) cuts.push_back(f.solve(branch, level));
      }
    }
  }

  void add_panel(const Table& table, const Derivative& f, double lo, double width) {
    const GaussRule& rule = gauss_rule();
    std::array<double, GaussRule::kNodes> x;
    std::array<double, GaussRule::kNodes> value;
    for (size_t i = 0; i < x.size(); ++i) x[i] = lo + width * (1.0 + rule.nodes[i]) / 2;
    f.evaluate(x, f.piece_of(lo + width / 2), value);
    for (size_t i = 0; i < x.size(); ++i) {
      nodes_.push_back(
          {x[i], (expected(table, x[i], value[i]) - value[i]) * rule.weights[i] * width / 2});
    }
  }

  static double expected(const Table& table, double x, double value) {
    const auto& levels = table.levels;
    if (table.problem.form == Form::unbiased) {
      return std::clamp(value, levels.front(), levels.back());
    }
    return levels[static_cast<size_t>(table.codes[table.interval_of(x)])];
  }

  std::vector<Node> nodes_;
};

}  // namespace

std::vector<double> unit_biases(const Table& table, const Derivative& f, const Units& units) {
  std::vector<double> biases;
  biases.reserve(units.size());
  for (auto unit = units.begin(); unit != units.end();) {
    // Units of one spread share their nodes.
    const auto last = end_of_spread(unit, units.end());
    const Domain reach = reach_of(unit, last);
    const ErrorNodes nodes(table, f, reach.lo, reach.hi, unit->spread);
    for (; unit != last; ++unit) biases.push_back(nodes.bias(unit->mean, unit->spread));
  }
  return biases;
}

Derivative derivative_seen_by(const Units& units, const FunctionSpec& function) {
  const Domain all = reach_of(units.begin(), units.end());
  return {Expression::parse(function.expression, function.parameters), all.lo, all.hi};
}

double recompute_bias(const Table& table) {
  const Objective& objective = table.problem.objective;
  const Units units =
      units_of(table.problem.weight, objective.smoothed ? objective.tau : Objective{}.tau);
  const std::vector<double> biases =
      unit_biases(table, derivative_seen_by(units, table.problem.function), units);
  double sum = 0.0;
  for (size_t j = 0; j < units.size(); ++j) sum += units[j].mass * biases[j] * biases[j];
  return std::sqrt(sum);
}

}  // namespace verification
}  // namespace fewbit::solver
