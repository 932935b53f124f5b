#include "search/smoothed_panels.hpp"

#include <cmath>
#include <numbers>

namespace fewbit::solver {
namespace {

struct LegendreValue {
  double value;
  double slope;
};

LegendreValue legendre(int degree, double x) {
  double previous = 1.0;
  double current = x;
  for (int n = 1; n < degree; ++n) {
    const double next = ((2 * n + 1) * x * current - n * previous) / (n + 1);
    previous = current;
    current = next;
  }
  return {current, degree * (x * current - previous) / (x * x - 1.0)};
}

}  // namespace

GaussRule gauss_legendre(int points) {
  GaussRule rule;
  for (int i = points - 1; i >= 0; --i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (points + 0.5));
    if (2 * i + 1 == points) x = 0.0;
    for (int step = 0; step < 8; ++step) {
      const LegendreValue p = legendre(points, x);
      x -= p.value / p.slope;
    }
    const double slope = legendre(points, x).slope;
    rule.nodes.push_back(x);
    rule.weights.push_back(2.0 / ((1.0 - x * x) * slope * slope));
  }
  return rule;
}

const GaussRule& panel_rule() {
  static const GaussRule rule = gauss_legendre(kPanelPoints);
  return rule;
}

PanelValues panel_points(double lo, double hi) {
  const double middle = 0.5 * (lo + hi);
  const double half = 0.5 * (hi - lo);
  PanelValues points;
  for (size_t i = 0; i < kPanelPoints; ++i) points[i] = middle + half * panel_rule().nodes[i];
  return points;
}

}  // namespace fewbit::solver
