#pragma once

#include <array>
#include <vector>

#include "expression/derivative.hpp"
#include "search/moments.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

/// f' and the measure that w puts there, at the nodes of one panel.
struct PanelNodes {
  static constexpr size_t kCount = 8;
  std::array<double, kCount> value;
  std::array<double, kCount> measure;  ///< rule weight times half width times w(x)
};

/// The eight-point Gauss-Legendre rule on [a, b], within one piece of f' and between neighbouring
/// breaks of w.
PanelNodes panel_nodes(const Derivative& derivative, const Weight& weight, double a, double b,
                       size_t piece);
/// Of f' less `center`.
Moments moments_of(const PanelNodes& nodes, double center);

/// A stretch within a piece of f' and between breaks of w.
struct Panel {
  double lo;
  double hi;
  size_t piece;
  double error;   ///< at least the rule's error for w (f' - y)^2, y any value of f'
  double noise;   ///< at least the rounding error of a computed f', estimated at three points
  bool constant;  ///< f' takes one value
};

/// Panels that cover the derivative's interval in order: halved where the bound of the rule's error
/// is largest, until it is at rounding level. Bounds, not samples, say how fine they have to be, so
/// no feature of f' or w is overlooked at any scale.
std::vector<Panel> lay_panels(const Derivative& derivative, const Weight& weight);

}  // namespace fewbit::solver
