#pragma once

#include <vector>

#include "expression/derivative.hpp"

namespace fewbit::solver {

/// Monotone and flat branches of f' by bisection of interval bounds of f''. `range` is the swing of
/// f' over the whole domain, `largest` its largest magnitude: what moves less than rounding is
/// flat. Throws Error when the bounds are too loose to decide.
std::vector<Branch> find_branches(const Derivative& derivative, double range, double largest,
                                  size_t nodes);

}  // namespace fewbit::solver
