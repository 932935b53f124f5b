#pragma once

#include <array>
#include <cstddef>

#include "expression/derivative.hpp"
#include "search/moments.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

/// f' and the measure that w puts there, at the nodes of one panel.
struct PanelNodes {
  static constexpr size_t kCount = 8;
  /// Of the rule on [-1, 1], ascending.
  static const std::array<double, kCount> kAbscissae;

  std::array<double, kCount> value;
  std::array<double, kCount> measure;  ///< rule weight times half width times w(x)
};

/// The eight-point Gauss-Legendre rule on [a, b], within one piece of f' and between neighbouring
/// breaks of w.
PanelNodes panel_nodes(const Derivative& derivative, const Weight& weight, double a, double b,
                       size_t piece);
/// Of f' less `center`.
Moments moments_of(const PanelNodes& nodes, double center);

}  // namespace fewbit::solver
