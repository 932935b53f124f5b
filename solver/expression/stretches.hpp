#pragma once

#include <cstddef>
#include <vector>

#include "expression/derivative.hpp"

namespace fewbit::solver {

/// Chebyshev points of the interpolation that a Stretch is measured by.
inline constexpr int kStretchPoints = 16;

/// The Chebyshev points of [lo, hi], ascending.
std::vector<double> stretch_points(double lo, double hi);

/// Stretches that cover the derivative's interval in order, none across a kink. On each of them f'
/// differs from its interpolant at stretch_points() by `tolerance` at most: shown by bounds of
/// Taylor coefficients, so that no feature of f', however narrow beside the interval, is
/// overlooked. A stretch that no halving resolves (at a singularity of f''', or after a large
/// number of halvings) says what is known in `error`.
std::vector<Stretch> resolve(const Derivative& derivative, double tolerance);

}  // namespace fewbit::solver
