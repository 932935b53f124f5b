#pragma once

#include <array>

#include "expression/expression.hpp"

namespace fewbit::solver {

/// Highest Taylor coefficient that is bounded.
inline constexpr int kTaylorOrder = 17;

/// [j] is at least |f^(j)(x)| / j! for every x of an interval; infinite where nothing is known.
using TaylorBounds = std::array<double, kTaylorOrder + 1>;

/// Bounds of the Taylor coefficients of a smooth expression around any point of [a, b], up to
/// rounding of a few thousand units in the last place. They follow from the enclosures of the
/// values on [a, b] by the recurrences of automatic differentiation, with magnitudes in the place
/// of numbers (the method of majorants): no cancellation is seen, so they are good on stretches
/// that are short beside the distance to the next singularity, and huge on long ones.
TaylorBounds taylor_bounds(const Expression& f, double a, double b);

/// [j] is f^(j)(x) / j!, rounded; not a number where the recurrences divide by zero.
using TaylorCoefficients = std::array<double, kTaylorOrder + 1>;

/// The coefficients of a smooth expression at x, by the same recurrences.
TaylorCoefficients taylor_coefficients(const Expression& f, double x);

}  // namespace fewbit::solver
