#pragma once

#include <array>
#include <vector>

#include "expression/derivative.hpp"

namespace fewbit::solver {

/// Gauss-Legendre rule on [-1, 1], nodes ascending.
struct GaussRule {
  std::vector<double> nodes;
  std::vector<double> weights;
};
GaussRule gauss_legendre(int points);

inline constexpr int kPanelPoints = 16;
using PanelValues = std::array<double, kPanelPoints>;

/// A stretch within one piece of f'.
struct Panel {
  double lo;
  double hi;
  size_t piece;
};

/// The rule of kPanelPoints points that every panel uses.
const GaussRule& panel_rule();

/// The rule's points on [panel.lo, panel.hi].
PanelValues panel_points(const Panel& panel);

/// Legendre coefficients of the polynomial through values at the rule's points.
PanelValues legendre_coefficients(const PanelValues& values);

/// The last coefficients are at rounding level: below 1e-13 of the largest value plus `floor`.
bool is_resolved(const PanelValues& values, double floor);

/// Panels that cover [lo, hi] (within the derivative's span), never across a kink, on each of which
/// f' is a polynomial of degree kPanelPoints - 1 as far as is_resolved can tell.
std::vector<Panel> resolve_panels(const Derivative& derivative, double lo, double hi, double floor);

}  // namespace fewbit::solver
