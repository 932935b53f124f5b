#include "search/smoothed_panels.hpp"

#include <algorithm>
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

using Transform = std::array<PanelValues, kPanelPoints>;

Transform make_transform() {
  Transform transform{};
  const GaussRule& rule = panel_rule();
  for (size_t i = 0; i < kPanelPoints; ++i) {
    double previous = 0.0;
    double current = 1.0;
    for (int n = 0; n < kPanelPoints; ++n) {
      transform[static_cast<size_t>(n)][i] = (n + 0.5) * rule.weights[i] * current;
      const double next = ((2 * n + 1) * rule.nodes[i] * current - n * previous) / (n + 1);
      previous = current;
      current = next;
    }
  }
  return transform;
}

const Transform& transform_matrix() {
  static const Transform transform = make_transform();
  return transform;
}

double coefficient(const PanelValues& row, const PanelValues& values) {
  double sum = 0.0;
  for (size_t i = 0; i < kPanelPoints; ++i) sum += row[i] * values[i];
  return sum;
}

// Too narrow for another halving to be worth it, whatever f' does there.
constexpr double kNarrowest = 1e-7;

/// Wider than this a panel's points could miss what f' does on it: activations change over lengths
/// of about 1 near zero, of a share of |x| far out.
bool may_miss(const Panel& panel) {
  const double nearest =
      panel.lo < 0.0 && panel.hi > 0.0 ? 0.0 : std::min(std::abs(panel.lo), std::abs(panel.hi));
  return panel.hi - panel.lo > std::max(32.0, 8.0 * nearest);
}

void split_until_resolved(const Derivative& derivative, const Panel& panel, double narrowest,
                          double floor, std::vector<Panel>& out) {
  PanelValues values;
  derivative.evaluate(panel_points(panel), panel.piece, values);
  if (panel.hi - panel.lo < narrowest || (is_resolved(values, floor) && !may_miss(panel))) {
    out.push_back(panel);
    return;
  }
  const double middle = 0.5 * (panel.lo + panel.hi);
  split_until_resolved(derivative, {panel.lo, middle, panel.piece}, narrowest, floor, out);
  split_until_resolved(derivative, {middle, panel.hi, panel.piece}, narrowest, floor, out);
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

PanelValues panel_points(const Panel& panel) {
  const double middle = 0.5 * (panel.lo + panel.hi);
  const double half = 0.5 * (panel.hi - panel.lo);
  PanelValues points;
  for (size_t i = 0; i < kPanelPoints; ++i) points[i] = middle + half * panel_rule().nodes[i];
  return points;
}

PanelValues legendre_coefficients(const PanelValues& values) {
  PanelValues result;
  for (size_t n = 0; n < kPanelPoints; ++n) {
    result[n] = coefficient(transform_matrix()[n], values);
  }
  return result;
}

bool is_resolved(const PanelValues& values, double floor) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  const double limit = 1e-13 * largest + floor;
  const Transform& transform = transform_matrix();
  return std::abs(coefficient(transform[kPanelPoints - 1], values)) <= limit &&
         std::abs(coefficient(transform[kPanelPoints - 2], values)) <= limit;
}

std::vector<Panel> resolve_panels(const Derivative& derivative, double lo, double hi,
                                  double floor) {
  const std::vector<double>& borders = derivative.borders();
  std::vector<Panel> panels;
  for (size_t piece = 0; piece + 1 < borders.size(); ++piece) {
    const double left = std::max(lo, borders[piece]);
    const double right = std::min(hi, borders[piece + 1]);
    if (left < right) {
      // Two halves at least: one panel around a symmetric bump could look flat from 16 points.
      const double middle = left + 0.4375 * (right - left);
      const double narrowest = kNarrowest * (hi - lo);
      split_until_resolved(derivative, {left, middle, piece}, narrowest, floor, panels);
      split_until_resolved(derivative, {middle, right, piece}, narrowest, floor, panels);
    }
  }
  return panels;
}

}  // namespace fewbit::solver
