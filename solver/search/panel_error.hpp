#pragma once

#include <array>

#include "expression/taylor_bounds.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

/// At least the error of the eight-point Gauss-Legendre rule on a panel of length `width` for
/// w (f' - y)^2 or w (f' - a)(b - f'), where f' differs from y, a and b by `away` at most.
/// slope[j] and density[j] bound the Taylor coefficients of f' and w on the panel.
double panel_error(const TaylorBounds& slope, double away,
                   const std::array<double, kDensityOrder + 1>& density, double width);

}  // namespace fewbit::solver
