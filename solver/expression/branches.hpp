#pragma once

#include <vector>

#include "expression/derivative.hpp"

namespace fewbit::solver {

struct BranchPattern {
  std::vector<Branch> branches;
  double error;  ///< f' departs from a monotone or flat course by no more than this
};

/// Monotone and flat branches of f' by bisection of interval bounds of f''. `range` is the swing of
/// f' over the whole domain or less, `largest` its largest magnitude: what moves less than rounding
/// is flat. `nodes` is the size of each piece. Throws Error when the bounds are too loose to
/// decide.
BranchPattern find_branches(const Derivative& derivative, double range, double largest,
                            const std::vector<size_t>& nodes);

}  // namespace fewbit::solver
