#include "search/smoothing_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "search/smoothed_histogram.hpp"
#include "search/smoothed_panels.hpp"

namespace fewbit::solver {
namespace {

// Spreads after which a normal density no longer counts (1e-17 of the mass).
constexpr double kReach = 8.6;
constexpr double kSmallestTau = 0.01;
constexpr double kSigmasPerUnitLog = 12.0;
// The share of a bin that is too rare to hold means of units: it may be as long as a thousand
// million of their spreads.
constexpr double kLeastBinOfUnits = 1e-10;

double parameter(const WeightSpec& weight, const char* name) {
  for (const NamedValue& value : weight.parameters) {
    if (value.first == name) return value.second;
  }
  throw Error(fmt::format("weight {}: parameter {} is missing", weight.kind, name), {}, "weight");
}

double positive_parameter(const WeightSpec& weight, const char* name) {
  const double value = parameter(weight, name);
  if (!(value > 0.0) || !std::isfinite(value)) {
    throw Error(fmt::format("weight {}: {} is {}, accepted are positive numbers", weight.kind, name,
                            shortest(value)),
                {}, "weight");
  }
  return value;
}

// The equidistant rule over means ~ N(mean, width^2). For b^2, whose spectrum falls like a normal
// one of variance 2 / spread^2, it converges faster than geometrically; the step puts the first
// alias at exp(-tail), and as much of the means' mass is left out.
void append_normal(double mean, double sigma, double tau, double mass, double tail,
                   std::vector<SmoothingNode>& out) {
  const double spread = tau * sigma;
  const double width = sigma * std::sqrt((1.0 - tau) * (1.0 + tau));
  if (width < 1e-8 * sigma) {
    out.push_back({mean, spread, mass});
    return;
  }
  const double spectrum = 2.0 / (spread * spread) + 1.0 / (width * width);
  const double step = 2.0 * std::numbers::pi / std::sqrt(2.0 * tail * spectrum);
  const int half = static_cast<int>(std::ceil(width * std::sqrt(2.0 * tail) / step));
  double total = 0.0;
  for (int i = -half; i <= half; ++i) {
    const double z = i * step / width;
    total += std::exp(-0.5 * z * z);
  }
  for (int i = -half; i <= half; ++i) {
    const double z = i * step / width;
    out.push_back({mean + i * step, spread, mass * std::exp(-0.5 * z * z) / total});
  }
}

std::vector<SmoothingNode> mixture_nodes(const WeightSpec& weight, double tau, double tail) {
  const double lo = std::log(positive_parameter(weight, "sigma_min"));
  const double hi = std::log(positive_parameter(weight, "sigma_max"));
  const int count =
      static_cast<int>(std::clamp(std::ceil(kSigmasPerUnitLog * (hi - lo)), 8.0, 128.0));
  const GaussRule rule = gauss_legendre(count);
  std::vector<SmoothingNode> nodes;
  for (size_t i = 0; i < rule.nodes.size(); ++i) {
    const double sigma = std::exp(0.5 * (lo + hi) + 0.5 * (hi - lo) * rule.nodes[i]);
    append_normal(0.0, sigma, tau, 0.5 * rule.weights[i], tail, nodes);
  }
  return nodes;
}

/// A Laplace and a student-t density are normals whose sigma is random. With t = log(sigma / scale)
///   laplace    (sigma / scale)^2 / 2 is exponential:    density of t ~ exp(2 t - e^(2 t) / 2)
///   student-t  degrees (scale / sigma)^2 is chi-square: density of t ~ exp(-n t - n e^(-2 t) / 2)
struct LogSigma {
  double degrees;  ///< of student-t; 0 for laplace

  double log_density(double t) const {
    if (degrees > 0.0) return -degrees * (t + 0.5 * std::exp(-2.0 * t));
    return 2.0 * t - 0.5 * std::exp(2.0 * t);
  }
  double mode() const { return degrees > 0.0 ? 0.0 : 0.5 * std::numbers::ln2; }
};

// The step of the equidistant rule over t that leaves exp(-tail). Density and b^2 are analytic
// where |Im t| < pi / 4, and on the line Im t = y the density has grown by cos(2 y)^(-n / 2) at
// most (laplace: as n = 2): the error is that times exp(-2 pi y / step), least at step = 2 pi / (n
// tan(2 y)).
double log_sigma_step(double degrees, double tail) {
  double lo = 0.0;
  double hi = 0.25 * std::numbers::pi;
  for (int i = 0; i < 60; ++i) {
    const double y = 0.5 * (lo + hi);
    const double fall = degrees * (y * std::tan(2.0 * y) + 0.5 * std::log(std::cos(2.0 * y)));
    (fall < tail ? lo : hi) = y;
  }
  return 2.0 * std::numbers::pi / (degrees * std::tan(2.0 * hi));
}

void append_scale_mixture(const LogSigma& law, double mean, double scale, double tau, double tail,
                          std::vector<SmoothingNode>& out) {
  const double step = log_sigma_step(law.degrees > 0.0 ? law.degrees : 2.0, tail);
  const double peak = law.log_density(law.mode());
  std::vector<std::pair<double, double>> sigmas;  // with their masses
  double total = 0.0;
  for (const int direction : {-1, 1}) {
    for (int i = direction < 0 ? 1 : 0;; ++i) {
      const double t = law.mode() + direction * i * step;
      const double mass = std::exp(law.log_density(t) - peak);
      if (mass < std::exp(-tail)) break;
      sigmas.emplace_back(scale * std::exp(t), mass);
      total += mass;
    }
  }
  std::sort(sigmas.begin(), sigmas.end());
  for (const auto& [sigma, mass] : sigmas) append_normal(mean, sigma, tau, mass / total, tail, out);
}

std::vector<SmoothingNode> histogram_nodes(const WeightSpec& weight, double tau) {
  if (weight.edges.size() < 2 || weight.masses.size() + 1 != weight.edges.size()) {
    throw Error(fmt::format("weight histogram: {} edges for {} masses", weight.edges.size(),
                            weight.masses.size()),
                {}, "weight");
  }
  double mass = 0.0;
  double mean = 0.0;
  for (size_t i = 0; i < weight.masses.size(); ++i) {
    mass += weight.masses[i];
    mean += weight.masses[i] * 0.5 * (weight.edges[i] + weight.edges[i + 1]);
  }
  mean /= mass;
  double variance = 0.0;
  for (size_t i = 0; i < weight.masses.size(); ++i) {
    const double left = weight.edges[i] - mean;
    const double right = weight.edges[i + 1] - mean;
    variance += weight.masses[i] / mass * (left * left + left * right + right * right) / 3.0;
  }
  const double spread = tau * std::sqrt(variance);
  const double shrink = std::sqrt((1.0 - tau) * (1.0 + tau));
  if (shrink < 1e-8) return {{mean, spread, 1.0}};
  std::vector<double> masses = weight.masses;
  for (double& bin : masses) {
    if (bin < kLeastBinOfUnits * mass) bin = 0.0;
  }
  std::vector<double> edges = weight.edges;
  for (double& edge : edges) edge = mean + shrink * (edge - mean);
  // A bin around a single number is as narrow as doubles allow: drawn together it would vanish, and
  // its mass with it.
  for (size_t i = 1; i < edges.size(); ++i) {
    edges[i] = std::max(edges[i], std::nextafter(edges[i - 1], edges.back() + 1.0));
  }
  std::vector<SmoothingNode> nodes;
  for (const MassPoint& point : gauss_points(edges, masses, spread)) {
    nodes.push_back({point.position, spread, point.mass / mass});
  }
  return nodes;
}

/// One node for each value; of `weight` it is known that two of them differ.
std::vector<SmoothingNode> value_nodes(const WeightSpec& weight, double tau) {
  double mass = 0.0;
  double mean = 0.0;
  double squares = 0.0;
  for (size_t i = 0; i < weight.values.size(); ++i) {
    if (!(weight.masses[i] > 0.0)) continue;
    mass += weight.masses[i];
    const double apart = weight.values[i] - mean;
    mean += apart * weight.masses[i] / mass;
    squares += apart * (weight.values[i] - mean) * weight.masses[i];
  }
  const double spread = tau * std::sqrt(squares / mass);
  const double shrink = std::sqrt((1.0 - tau) * (1.0 + tau));
  std::vector<SmoothingNode> nodes;
  for (size_t i = 0; i < weight.values.size(); ++i) {
    if (weight.masses[i] < kLeastBinOfUnits * mass) continue;
    nodes.push_back({mean + shrink * (weight.values[i] - mean), spread, weight.masses[i] / mass});
  }
  return nodes;
}

std::vector<SmoothingNode> unit_nodes(const WeightSpec& weight) {
  std::vector<SmoothingNode> nodes;
  double mass = 0.0;
  for (const UnitSpec& unit : weight.units) mass += unit.mass;
  for (const UnitSpec& unit : weight.units) {
    if (!(unit.spread > 0.0) || !(unit.mass >= 0.0) || !(mass > 0.0)) {
      throw Error(fmt::format("weight {}: a unit has spread {} and mass {}, accepted are positive "
                              "spreads and masses",
                              weight.kind, shortest(unit.spread), shortest(unit.mass)),
                  {}, "weight");
    }
    nodes.push_back({unit.mean, unit.spread, unit.mass / mass});
  }
  return nodes;
}

/// Whether inputs have a second moment: what a unit's scatter is measured by.
bool has_spread(const WeightSpec& weight) {
  if (weight.kind == "student-t") return parameter(weight, "degrees") > 2.0;
  if (weight.is_discrete()) return weight.values.size() > 1 || !weight.units.empty();
  return weight.kind != "uniform";
}

std::vector<SmoothingNode> nodes_by_kind(const WeightSpec& weight, double tau, double tail) {
  if (weight.kind == "mixture") return mixture_nodes(weight, tau, tail);
  if (weight.is_discrete()) {
    return weight.units.empty() ? value_nodes(weight, tau) : unit_nodes(weight);
  }
  if (weight.kind == "histogram") {
    return weight.units.empty() ? histogram_nodes(weight, tau) : unit_nodes(weight);
  }
  std::vector<SmoothingNode> nodes;
  const double mean = parameter(weight, "mean");
  if (weight.kind == "normal") {
    append_normal(mean, positive_parameter(weight, "sigma"), tau, 1.0, tail, nodes);
  } else {
    const bool student = weight.kind == "student-t";
    const LogSigma law{student ? positive_parameter(weight, "degrees") : 0.0};
    append_scale_mixture(law, mean, positive_parameter(weight, "scale"), tau, tail, nodes);
  }
  return nodes;
}

}  // namespace

std::vector<SmoothingNode> smoothing_nodes(const WeightSpec& weight, double tau, bool fallback,
                                           double tail) {
  if (!(tau >= kSmallestTau && tau <= 1.0)) {
    throw Error(fmt::format("tau is {}, accepted are {} to 1", shortest(tau), kSmallestTau), {},
                "objective");
  }
  if (has_spread(weight)) return nodes_by_kind(weight, tau, tail);
  if (!fallback) {
    throw Error(
        fmt::format("the smoothed objective needs to know how units scatter: weight {} does not "
                    "say, accepted are normal, mixture, laplace, student-t with more than 2 "
                    "degrees, histogram and samples",
                    weight.kind),
        {}, "weight");
  }
  std::vector<SmoothingNode> nodes;
  append_normal(0.0, 1.0, tau, 1.0, tail, nodes);
  return nodes;
}

Domain smoothing_reach(const std::vector<SmoothingNode>& nodes) {
  Domain reach{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const SmoothingNode& node : nodes) {
    reach.lo = std::min(reach.lo, node.mean - kReach * node.spread);
    reach.hi = std::max(reach.hi, node.mean + kReach * node.spread);
  }
  return reach;
}

}  // namespace fewbit::solver
