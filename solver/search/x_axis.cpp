#include "search/x_axis.hpp"

#include <algorithm>
#include <cmath>

namespace fewbit::solver {

namespace {

struct Sample {
  double x;
  double cost;  ///< running integral of the density
};

/// Running integral of sqrt(|f''| w), by a few samples of each panel; a floor keeps flat stretches
/// covered.
std::vector<Sample> cost_profile(const PrefixIntegral& integral) {
  constexpr size_t kSamples = 2048;
  constexpr size_t kMostPerPanel = 32;
  const Derivative& derivative = integral.derivative();
  const size_t count = std::clamp<size_t>(kSamples / integral.panels().size(), 1, kMostPerPanel);
  std::vector<double> x(count);
  std::vector<double> value(count);
  std::vector<double> slope(count);
  std::vector<Sample> profile{{derivative.lo(), 0.0}};
  for (const Panel& panel : integral.panels()) {
    const double step = (panel.hi - panel.lo) / static_cast<double>(count);
    for (size_t i = 0; i < count; ++i) {
      x[i] = panel.lo + step * (static_cast<double>(i) + 0.5);
    }
    derivative.evaluate(x, panel.piece, value, slope);
    for (size_t i = 0; i < count; ++i) {
      const double density = std::sqrt(std::abs(slope[i]) * integral.weight().density(x[i]));
      const double end = i + 1 == count ? panel.hi : x[i] + 0.5 * step;
      profile.push_back({end, profile.back().cost + density * step});
    }
  }
  const double length = derivative.hi() - derivative.lo();
  const double floor = 0.05 * profile.back().cost / length + 1e-300;
  for (Sample& sample : profile) sample.cost += floor * (sample.x - derivative.lo());
  return profile;
}

}  // namespace

std::vector<double> equal_cost_points(const PrefixIntegral& integral, size_t count) {
  const std::vector<Sample> profile = cost_profile(integral);
  std::vector<double> points = integral.derivative().borders();
  size_t segment = 0;
  for (size_t i = 1; i < count; ++i) {
    const double cost = profile.back().cost * static_cast<double>(i) / static_cast<double>(count);
    while (profile[segment + 1].cost < cost) ++segment;
    const Sample& a = profile[segment];
    const Sample& b = profile[segment + 1];
    points.push_back(a.x + (b.x - a.x) * (cost - a.cost) / (b.cost - a.cost));
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

XAxis::XAxis(const PrefixIntegral& integral)
    : integral_(integral), derivative_(integral.derivative()) {}

double XAxis::swing(double a, double b) const {
  double smallest = INFINITY;
  double largest = -INFINITY;
  for (const Branch& branch : derivative_.branches()) {
    if (branch.hi <= a || branch.lo >= b) continue;
    const double at_lo = branch.lo >= a ? branch.value_lo : derivative_.value(a, branch.piece);
    const double at_hi = branch.hi <= b ? branch.value_hi : derivative_.value(b, branch.piece);
    smallest = std::min({smallest, at_lo, at_hi});
    largest = std::max({largest, at_lo, at_hi});
  }
  // The values are right to a few units in the last place.
  const double rounding = 8e-16 * std::max(std::abs(smallest), std::abs(largest));
  return largest > smallest ? largest - smallest + rounding : rounding;
}

bool XAxis::is_monotone(double a, double b) const {
  for (const Branch& branch : derivative_.branches()) {
    if (a < branch.hi) return b <= branch.hi;
  }
  return true;
}

bool XAxis::jumps_across(double x, double centered) const {
  const double level = centered + integral_.center();
  const std::vector<double>& borders = derivative_.borders();
  const auto kink = std::lower_bound(borders.begin() + 1, borders.end() - 1, x);
  if (kink == borders.end() - 1 || *kink != x) return false;
  const auto piece = static_cast<size_t>(kink - borders.begin()) - 1;
  const double left = derivative_.value(x, piece);
  const double right = derivative_.value(x, piece + 1);
  return left != right && (left - level) * (right - level) <= 0.0;
}

std::vector<Border> XAxis::first_borders(size_t count) const {
  std::vector<Border> borders;
  for (const double x : equal_cost_points(integral_, count)) borders.push_back(border(x));
  return borders;
}

}  // namespace fewbit::solver
