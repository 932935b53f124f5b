// A unit sees x ~ N(m, s^2); its bias is b(m, s) = integral of (q - f')(x) N(x; m, s^2). Result:
// the root of the mean of b^2 over the units. For normal inputs of spread sigma the unit means are
// N(mean, (1 - tau^2) sigma^2) with s = tau sigma; b^2 is entire in m, so the trapezoidal rule
// converges faster than any power: the step makes its aliasing error 1e-16.

#include "verify/bias.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "expression/derivative.hpp"
#include "verify/gauss.hpp"

namespace fewbit::solver {
inline namespace verification {

namespace {

constexpr double kReach = 8.8;  // a normal density is below 1e-17 of its peak from here on

double named(const WeightSpec& weight, const char* name) {
  for (const auto& [key, value] : weight.parameters) {
    if (key == name) return value;
  }
  return 0.0;
}

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

using Units = std::vector<UnitSpec>;

/// Units of inputs N(mean, sigma^2).
void add_normal(Units& units, double mean, double sigma, double tau, double mass) {
  const double spread = tau * sigma;
  const double means = std::sqrt(1.0 - tau * tau) * sigma;
  const double width = 1.0 / std::sqrt(1.0 / (means * means) + 2.0 / (spread * spread));
  const double step = 2.0 * std::numbers::pi * width / std::sqrt(80.0);
  const int count = static_cast<int>(std::ceil(kReach * means / step));
  const double share = step / (means * std::sqrt(2.0 * std::numbers::pi));
  for (int i = -count; i <= count; ++i) {
    const double z = step * i / means;
    units.push_back({mean + step * i, spread, mass * share * std::exp(-0.5 * z * z)});
  }
}

Units units_of_mixture(double smallest, double largest, double tau) {
  constexpr int kPanels = 3;
  const GaussRule& rule = gauss_rule();
  Units units;
  for (int panel = 0; panel < kPanels; ++panel) {
    for (size_t i = 0; i < GaussRule::kNodes; ++i) {
      const double share = (panel + (1.0 + rule.nodes[i]) / 2) / kPanels;
      const double sigma = smallest * std::pow(largest / smallest, share);
      add_normal(units, 0.0, sigma, tau, rule.weights[i] / 2 / kPanels);
    }
  }
  return units;
}

/// Evenly spread means on [lo, hi], all with `spread`: three Gauss points where that is short
/// beside the spread, else the full rule on parts no longer than it.
void add_even_means(Units& units, double lo, double hi, double mass, double spread) {
  const double width = hi - lo;
  if (width < 0.02 * spread) {
    const double off = width / 2 * std::sqrt(0.6);
    const double middle = lo + width / 2;
    units.push_back({middle - off, spread, mass * 5 / 18});
    units.push_back({middle, spread, mass * 8 / 18});
    units.push_back({middle + off, spread, mass * 5 / 18});
    return;
  }
  const GaussRule& rule = gauss_rule();
  const double parts = std::ceil(width / spread);
  for (double part = 0.0; part < parts; ++part) {
    for (size_t i = 0; i < GaussRule::kNodes; ++i) {
      const double x = lo + width / parts * (part + (1.0 + rule.nodes[i]) / 2);
      units.push_back({x, spread, mass / parts * rule.weights[i] / 2});
    }
  }
}

/// The unit model of a histogram that does not tell its units apart: their means follow the
/// histogram drawn together about its mean, so that with the scatter tau sigma of each the inputs
/// have the histogram's spread.
Units units_of_bins(const WeightSpec& weight, double tau) {
  double mass = 0.0;
  double mean = 0.0;
  for (size_t i = 0; i < weight.masses.size(); ++i) {
    mass += weight.masses[i];
    mean += weight.masses[i] * (weight.edges[i] + weight.edges[i + 1]) / 2;
  }
  mean /= mass;
  double variance = 0.0;
  for (size_t i = 0; i < weight.masses.size(); ++i) {
    const double lo = weight.edges[i] - mean;
    const double hi = weight.edges[i + 1] - mean;
    variance += weight.masses[i] / mass * (lo * lo + lo * hi + hi * hi) / 3;
  }
  const double together = std::sqrt(1.0 - tau * tau);
  Units units;
  for (size_t i = 0; i < weight.masses.size(); ++i) {
    if (!(weight.masses[i] > 0.0)) continue;
    add_even_means(units, mean + together * (weight.edges[i] - mean),
                   mean + together * (weight.edges[i + 1] - mean), weight.masses[i],
                   tau * std::sqrt(variance));
  }
  return units;
}

Units units_of(const WeightSpec& weight, double tau) {
  if (weight.kind == "histogram") {
    return weight.units.empty() ? units_of_bins(weight, tau) : weight.units;
  }
  if (weight.kind == "mixture") {
    return units_of_mixture(named(weight, "sigma_min"), named(weight, "sigma_max"), tau);
  }
  const bool normal = weight.kind == "normal";  // uniform: as if the inputs were N(0, 1)
  Units units;
  add_normal(units, normal ? named(weight, "mean") : 0.0, normal ? named(weight, "sigma") : 1.0,
             tau, 1.0);
  return units;
}

/// Where the inputs of units [first, last) are.
Domain reach_of(Units::const_iterator first, Units::const_iterator last) {
  Domain reach = {HUGE_VAL, -HUGE_VAL};
  for (; first != last; ++first) {
    reach.lo = std::min(reach.lo, first->mean - kReach * first->spread);
    reach.hi = std::max(reach.hi, first->mean + kReach * first->spread);
  }
  return reach;
}

}  // namespace

double recompute_bias(const Table& table) {
  const Objective& objective = table.problem.objective;
  const auto& function = table.problem.function;
  const Units units =
      units_of(table.problem.weight, objective.smoothed ? objective.tau : Objective{}.tau);
  const Domain all = reach_of(units.begin(), units.end());
  const Derivative f(Expression::parse(function.expression, function.parameters), all.lo, all.hi);
  double sum = 0.0;
  double mass = 0.0;
  for (auto unit = units.begin(); unit != units.end();) {
    // Units of one spread share their nodes.
    const auto other = [&](const UnitSpec& next) { return next.spread != unit->spread; };
    const auto last = std::find_if(unit, units.end(), other);
    const Domain reach = reach_of(unit, last);
    const ErrorNodes nodes(table, f, reach.lo, reach.hi, unit->spread);
    for (; unit != last; ++unit) {
      const double bias = nodes.bias(unit->mean, unit->spread);
      sum += unit->mass * bias * bias;
      mass += unit->mass;
    }
  }
  return std::sqrt(sum / mass);
}

}  // namespace verification
}  // namespace fewbit::solver
