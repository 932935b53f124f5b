#include "verify/bias.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "verify/gauss.hpp"

namespace fewbit::solver {

namespace {

using Values = std::array<double, GaussNodes::kNodes>;

Values points(double lo, double hi) {
  Values x;
  for (size_t i = 0; i < x.size(); ++i) x[i] = lo + (hi - lo) * (1.0 + gauss_rule().nodes[i]) / 2;
  return x;
}

Values values(const Derivative& f, const Values& x, double lo, double hi) {
  Values value;
  f.evaluate(x, f.piece_of(lo + (hi - lo) / 2), value);
  return value;
}

/// Borders of parts so short that their nodes tell all that f' does there, however narrow a feature
/// is: halves of what a polynomial of degree 15 follows.
std::vector<double> settled_parts(const Derivative& f) {
  std::vector<double> borders;
  for (const Stretch& stretch : f.stretches()) {
    borders.insert(borders.end(), {stretch.lo, stretch.lo + (stretch.hi - stretch.lo) / 2});
  }
  borders.push_back(f.hi());
  return borders;
}

/// The error of a table at the nodes of a fine quadrature over [lo, hi].
class ErrorNodes {
 public:
  /// `settled`: borders of parts on which f' needs no more nodes; the density of a unit may.
  ErrorNodes(const Table& table, const Derivative& f, const std::vector<double>& settled, double lo,
             double hi, double spread) {
    std::vector<double> cuts = settled;
    for (const double t : table.thresholds) {
      cuts.push_back(t);
      if (table.symmetry == Symmetry::even) cuts.push_back(-t);
    }
    if (table.problem.form == Form::unbiased) add_crossings(table, f, cuts);
    cuts.insert(cuts.end(), {lo, hi});
    std::erase_if(cuts, [&](double x) { return !(x >= lo && x <= hi); });
    std::sort(cuts.begin(), cuts.end());
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      const double width = cuts[i + 1] - cuts[i];
      // On two spreads the rule knows a normal density to 1e-18.
      const double parts = std::ceil(0.5 * width / spread);
      for (double part = 0.0; part < parts; ++part) {
        const double from = cuts[i] + width * part / parts;
        const double to =
            part + 1.0 == parts ? cuts[i + 1] : cuts[i] + width * (part + 1.0) / parts;
        add_part(table, f, from, to);
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

  void add_part(const Table& table, const Derivative& f, double lo, double hi) {
    const Values x = points(lo, hi);
    const Values value = values(f, x, lo, hi);
    for (size_t i = 0; i < x.size(); ++i) {
      nodes_.push_back({x[i], (expected(table, x[i], value[i]) - value[i]) *
                                  gauss_rule().weights[i] * (hi - lo) / 2});
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
  const std::vector<double> settled = settled_parts(f);
  for (auto unit = units.begin(); unit != units.end();) {
    // Units of one spread share their nodes.
    const auto last = end_of_spread(unit, units.end());
    const Domain reach = reach_of(unit, last);
    const ErrorNodes nodes(table, f, settled, reach.lo, reach.hi, unit->spread);
    for (; unit != last; ++unit) biases.push_back(nodes.bias(unit->mean, unit->spread));
  }
  return biases;
}

Derivative derivative_seen_by(const Units& units, const FunctionSpec& function) {
  const Domain all = reach_of(units.begin(), units.end());
  return {Expression::parse(function.expression, function.parameters), all.lo, all.hi};
}

SeenBias bias_seen_by_units(const Table& table) {
  const Objective& objective = table.problem.objective;
  const Units units =
      units_of(table.problem.weight, objective.smoothed ? objective.tau : Objective{}.tau);
  const Derivative f = derivative_seen_by(units, table.problem.function);
  const std::vector<double> biases = unit_biases(table, f, units);
  double sum = 0.0;
  // Places are known to their last digit only, which counts in units of the spread.
  double digits = 1.0;
  for (size_t j = 0; j < units.size(); ++j) {
    sum += units[j].mass * biases[j] * biases[j];
    digits = std::max(digits, 0.02 * std::fabs(units[j].mean) / units[j].spread);
  }
  const double largest =
      std::max({std::fabs(f.min_value()), std::fabs(f.max_value()), std::fabs(table.levels.front()),
                std::fabs(table.levels.back())});
  return {std::sqrt(sum), digits * largest};
}

double recompute_bias(const Table& table) {
  return bias_seen_by_units(table).rms;
}

}  // namespace fewbit::solver
