#pragma once

#include <array>
#include <vector>

namespace fewbit::solver {

/// Gauss-Legendre rule on [-1, 1], nodes ascending.
struct GaussRule {
  std::vector<double> nodes;
  std::vector<double> weights;
};
GaussRule gauss_legendre(int points);

inline constexpr int kPanelPoints = 16;
using PanelValues = std::array<double, kPanelPoints>;

/// The rule of kPanelPoints points that every panel uses.
const GaussRule& panel_rule();

/// The rule's points on [lo, hi].
PanelValues panel_points(double lo, double hi);

}  // namespace fewbit::solver
