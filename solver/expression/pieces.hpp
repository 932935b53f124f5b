#pragma once

#include <vector>

#include "expression/expression.hpp"

namespace fewbit::solver {

/// A stretch on which every condition of an expression is decided: `smooth` has no switching node.
struct Piece {
  double lo;
  double hi;
  Expression smooth;
};

/// Cuts [lo, hi] where a condition of f changes, and around quotients that are 0/0 (quotients.hpp).
/// A kink at a number of few digits comes out as exactly that number. Neighbours whose expressions
/// are the same are one piece. Throws Error where a condition is not a number, and when there are
/// too many kinks to tell them apart.
std::vector<Piece> split_at_kinks(const Expression& f, double lo, double hi);

}  // namespace fewbit::solver
