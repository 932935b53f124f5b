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

/// Cuts [lo, hi] where a condition of f changes. A kink at a number of few digits comes out as
/// exactly that number. Neighbours whose expressions are the same are one piece.
std::vector<Piece> split_at_kinks(const Expression& f, double lo, double hi);

/// Ascending points in (lo, hi) where a smooth g changes its sign, to the last bit.
std::vector<double> sign_changes(const Expression& g, double lo, double hi);

}  // namespace fewbit::solver
