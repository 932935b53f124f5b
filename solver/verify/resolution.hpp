#pragma once

#include "expression/derivative.hpp"

namespace fewbit::solver {
inline namespace verification {

/// Between the ends of [a, b], within one branch of f', there is room for a step that no value at a
/// few points shows: bounds of f'' allow for more than four times the swing that the ends tell, and
/// for more than `negligible`.
bool may_hide_a_step(const Derivative& f, double a, double b, size_t piece, double negligible);

}  // namespace verification
}  // namespace fewbit::solver
