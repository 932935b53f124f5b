// For normal inputs of spread sigma the unit means are N(mean, (1 - tau^2) sigma^2) with the spread
// tau sigma; b^2 is entire in the mean, so the trapezoidal rule converges faster than any power:
// the step makes its aliasing error 1e-16.

#include "verify/units.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "verify/gauss.hpp"

namespace fewbit::solver {

namespace {

double named(const WeightSpec& weight, const char* name) {
  for (const auto& [key, value] : weight.parameters) {
    if (key == name) return value;
  }
  return 0.0;
}

/// Units of inputs N(mean, sigma^2).
void add_normal(Units& units, double mean, double sigma, double tau, double mass) {
  const double spread = tau * sigma;
  const double means = std::sqrt(1.0 - tau * tau) * sigma;
  if (means < 1e-8 * sigma) {
    units.push_back({mean, spread, mass});
    return;
  }
  const double width = 1.0 / std::sqrt(1.0 / (means * means) + 2.0 / (spread * spread));
  const double step = 2.0 * std::numbers::pi * width / std::sqrt(80.0);
  const int count = static_cast<int>(std::ceil(kReach * means / step));
  const double share = step / (means * std::sqrt(2.0 * std::numbers::pi));
  for (int i = -count; i <= count; ++i) {
    const double z = step * i / means;
    units.push_back({mean + step * i, spread, mass * share * std::exp(-0.5 * z * z)});
  }
}

/// b^2 is analytic in log sigma as far as 0.6 from the real line: panels of 2/3 leave 4^-24.
Units units_of_mixture(double smallest, double largest, double tau) {
  const int panels = std::max(1, static_cast<int>(std::ceil(1.5 * std::log(largest / smallest))));
  const GaussNodes& rule = gauss_rule();
  Units units;
  for (int panel = 0; panel < panels; ++panel) {
    for (size_t i = 0; i < GaussNodes::kNodes; ++i) {
      const double share = (panel + (1.0 + rule.nodes[i]) / 2) / panels;
      const double sigma = smallest * std::pow(largest / smallest, share);
      add_normal(units, 0.0, sigma, tau, rule.weights[i] / 2 / panels);
    }
  }
  return units;
}

/// The sigmas of the normals that make up a Laplace density (variance exponential, mean 2 scale^2)
/// or a Student's t (variance degrees scale^2 / chi-square), by Gauss's rule on panels of y. The
/// variance is 2 scale^2 exp(y) or scale^2 exp(-y), so that exp(y) has a gamma density.
struct GammaLaw {
  double shape;
  double rate;
  double power;  ///< of exp(y) in sigma

  /// The logarithm of y's density, up to a constant.
  double at(double y) const { return shape * y - rate * std::exp(y); }
  double mode() const { return std::log(shape / rate); }
};

Units units_of_gamma(const GammaLaw& law, double mean, double scale, double tau) {
  // From the mode, w away, the logarithm falls by shape (e^w - w - 1): 40 at both ends.
  const double curved = 9.0 / std::sqrt(law.shape);
  const double lo = law.mode() - curved - 40.0 / law.shape;
  const double hi = law.mode() + std::min(curved, 1.0 + std::log1p(40.0 / law.shape));
  const double width = std::min(0.5, 1.0 / std::sqrt(law.shape));
  const double panels = std::ceil((hi - lo) / width);
  const GaussNodes& rule = gauss_rule();
  Units units;
  for (double panel = 0.0; panel < panels; ++panel) {
    for (size_t i = 0; i < GaussNodes::kNodes; ++i) {
      const double y = lo + (hi - lo) / panels * (panel + (1.0 + rule.nodes[i]) / 2);
      const double mass = rule.weights[i] * std::exp(law.at(y) - law.at(law.mode()));
      if (mass > 1e-17) add_normal(units, mean, scale * std::exp(law.power * y), tau, mass);
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
  const GaussNodes& rule = gauss_rule();
  const double parts = std::ceil(width / spread);
  for (double part = 0.0; part < parts; ++part) {
    for (size_t i = 0; i < GaussNodes::kNodes; ++i) {
      const double x = lo + width / parts * (part + (1.0 + rule.nodes[i]) / 2);
      units.push_back({x, spread, mass / parts * rule.weights[i] / 2});
    }
  }
}

constexpr double kLeastBin = 1e-10;  // no units in bins with less of the mass

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
    if (!(weight.masses[i] > kLeastBin * mass)) continue;
    add_even_means(units, mean + together * (weight.edges[i] - mean),
                   mean + together * (weight.edges[i + 1] - mean), weight.masses[i],
                   tau * std::sqrt(variance));
  }
  return units;
}

/// The same of single values.
Units units_of_values(const WeightSpec& weight, double tau) {
  double mass = 0.0;
  double mean = 0.0;
  for (size_t i = 0; i < weight.values.size(); ++i) mass += weight.masses[i];
  for (size_t i = 0; i < weight.values.size(); ++i) {
    mean += weight.masses[i] / mass * weight.values[i];
  }
  double variance = 0.0;
  for (size_t i = 0; i < weight.values.size(); ++i) {
    const double apart = weight.values[i] - mean;
    variance += weight.masses[i] / mass * apart * apart;
  }
  const double together = std::sqrt(1.0 - tau * tau);
  Units units;
  for (size_t i = 0; i < weight.values.size(); ++i) {
    if (!(weight.masses[i] > kLeastBin * mass)) continue;
    units.push_back(
        {mean + together * (weight.values[i] - mean), tau * std::sqrt(variance), weight.masses[i]});
  }
  return units;
}

}  // namespace

Units units_of(const WeightSpec& weight, double tau) {
  Units units = weight.units;
  if (weight.kind == "histogram") {
    if (units.empty()) units = units_of_bins(weight, tau);
  } else if (weight.is_discrete() && (weight.values.size() > 1 || !units.empty())) {
    if (units.empty()) units = units_of_values(weight, tau);
  } else if (weight.kind == "mixture") {
    units = units_of_mixture(named(weight, "sigma_min"), named(weight, "sigma_max"), tau);
  } else if (weight.kind == "laplace") {
    const double scale = std::sqrt(2.0) * named(weight, "scale");
    units = units_of_gamma({1.0, 1.0, 0.5}, named(weight, "mean"), scale, tau);
  } else if (weight.kind == "student-t" && named(weight, "degrees") > 2.0) {
    const double half = named(weight, "degrees") / 2;
    units = units_of_gamma({half, half, -0.5}, named(weight, "mean"), named(weight, "scale"), tau);
  } else if (weight.kind == "normal") {
    add_normal(units, named(weight, "mean"), named(weight, "sigma"), tau, 1.0);
  } else {
    add_normal(units, 0.0, 1.0, tau, 1.0);  // no second moment: as if the inputs were N(0, 1)
  }
  double mass = 0.0;
  for (const UnitSpec& unit : units) mass += unit.mass;
  for (UnitSpec& unit : units) unit.mass /= mass;
  return units;
}

Domain reach_of(Units::const_iterator first, Units::const_iterator last) {
  Domain reach = {HUGE_VAL, -HUGE_VAL};
  for (; first != last; ++first) {
    reach.lo = std::min(reach.lo, first->mean - kReach * first->spread);
    reach.hi = std::max(reach.hi, first->mean + kReach * first->spread);
  }
  return reach;
}

Units::const_iterator end_of_spread(Units::const_iterator first, Units::const_iterator last) {
  return std::find_if(first, last,
                      [&](const UnitSpec& next) { return next.spread != first->spread; });
}

}  // namespace fewbit::solver
