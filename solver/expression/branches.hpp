#pragma once

#include <vector>

#include "expression/derivative.hpp"

namespace fewbit::solver {

/// Monotone and flat branches of f' by bisection of interval bounds of f''. `range` is the swing of
/// f' over the whole domain: what moves less than rounding of it is flat.
std::vector<Branch> find_branches(const Derivative& derivative, double range);

}  // namespace fewbit::solver
