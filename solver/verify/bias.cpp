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
  ErrorNodes(const Table& table, const Derivative& f, double lo, double hi, double width) {
    std::vector<double> cuts = f.borders();
    for (const double t : table.thresholds) {
      cuts.push_back(t);
      if (table.symmetry == Symmetry::even) cuts.push_back(-t);
    }
    cuts.insert(cuts.end(), {lo, hi, table.problem.domain.lo, table.problem.domain.hi});
    std::erase_if(cuts, [&](double x) { return !(x >= lo && x <= hi); });
    std::sort(cuts.begin(), cuts.end());
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      const double parts = std::ceil((cuts[i + 1] - cuts[i]) / width);
      for (double part = 0.0; part < parts; ++part) {
        const double step = (cuts[i + 1] - cuts[i]) / parts;
        add_panel(table, f, cuts[i] + step * part, step);
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

double panel_width(double spread) {
  return 0.5 * std::min(spread, 1.0);
}

/// Mean of b^2 for inputs N(mean, sigma^2).
double normal_mean_square(const Table& table, const Derivative& f, double mean, double sigma) {
  const double tau =
      table.problem.objective.smoothed ? table.problem.objective.tau : Objective{}.tau;
  const double spread = tau * sigma;
  const double means = std::sqrt(1.0 - tau * tau) * sigma;
  const double reach = kReach * (spread + means);
  const ErrorNodes nodes(table, f, std::max(f.lo(), mean - reach), std::min(f.hi(), mean + reach),
                         panel_width(spread));
  const double width = 1.0 / std::sqrt(1.0 / (means * means) + 2.0 / (spread * spread));
  const double step = 2.0 * std::numbers::pi * width / std::sqrt(80.0);
  double sum = 0.0;
  double mass = 0.0;
  const int count = static_cast<int>(std::ceil(kReach * means / step));
  for (int i = -count; i <= count; ++i) {
    const double z = step * i / means;
    const double density = std::exp(-0.5 * z * z);
    const double bias = nodes.bias(mean + step * i, spread);
    sum += density * bias * bias;
    mass += density;
  }
  return sum / mass;
}

double mixture_mean_square(const Table& table, const Derivative& f, double smallest,
                           double largest) {
  constexpr int kPanels = 3;
  const GaussRule& rule = gauss_rule();
  double sum = 0.0;
  for (int panel = 0; panel < kPanels; ++panel) {
    for (size_t i = 0; i < GaussRule::kNodes; ++i) {
      const double share = (panel + (1.0 + rule.nodes[i]) / 2) / kPanels;
      const double sigma = smallest * std::pow(largest / smallest, share);
      sum += rule.weights[i] / 2 / kPanels * normal_mean_square(table, f, 0.0, sigma);
    }
  }
  return sum;
}

double units_mean_square(const Table& table, const Derivative& f) {
  double sum = 0.0;
  double mass = 0.0;
  for (const UnitSpec& unit : table.problem.weight.units) {
    const double reach = kReach * unit.spread;
    const ErrorNodes nodes(table, f, std::max(f.lo(), unit.mean - reach),
                           std::min(f.hi(), unit.mean + reach), panel_width(unit.spread));
    const double bias = nodes.bias(unit.mean, unit.spread);
    sum += unit.mass * bias * bias;
    mass += unit.mass;
  }
  return sum / mass;
}

/// Where the inputs of all units are.
Domain reach_of(const WeightSpec& weight) {
  const double far = 1.5 * kReach;  // tau sigma and sqrt(1 - tau^2) sigma together
  if (weight.kind == "mixture") {
    const double largest = named(weight, "sigma_max");
    return {-far * largest, far * largest};
  }
  if (weight.kind == "normal") {
    const double mean = named(weight, "mean");
    const double sigma = named(weight, "sigma");
    return {mean - far * sigma, mean + far * sigma};
  }
  if (weight.units.empty()) return {-far, far};
  Domain reach = {HUGE_VAL, -HUGE_VAL};
  for (const UnitSpec& unit : weight.units) {
    reach.lo = std::min(reach.lo, unit.mean - kReach * unit.spread);
    reach.hi = std::max(reach.hi, unit.mean + kReach * unit.spread);
  }
  return reach;
}

}  // namespace

double recompute_bias(const Table& table) {
  const WeightSpec& weight = table.problem.weight;
  const auto& function = table.problem.function;
  const Domain reach = reach_of(weight);
  const Derivative f(Expression::parse(function.expression, function.parameters), reach.lo,
                     reach.hi);
  double square = 0.0;
  if (weight.kind == "mixture") {
    square = mixture_mean_square(table, f, named(weight, "sigma_min"), named(weight, "sigma_max"));
  } else if (weight.kind == "normal") {
    square = normal_mean_square(table, f, named(weight, "mean"), named(weight, "sigma"));
  } else if (!weight.units.empty()) {
    square = units_mean_square(table, f);
  } else {
    square = normal_mean_square(table, f, 0.0, 1.0);
  }
  return std::sqrt(square);
}

}  // namespace fewbit::solver
