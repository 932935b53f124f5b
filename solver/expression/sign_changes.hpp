#pragma once

#include <vector>

#include "expression/expression.hpp"

namespace fewbit::solver {

struct SignChanges {
  std::vector<double> points;  ///< ascending
  bool complete = true;        ///< false: too many, or hidden by rounding; some may be missing
};

/// The points in [lo, hi] where a smooth g changes its sign, each the double nearest to the root,
/// and the ends of stretches on which g is zero. A root at a number of few digits comes out as
/// exactly that number.
/// `work` is spent, a unit for each node evaluated; without any left nothing more is found.
SignChanges sign_changes(const Expression& g, double lo, double hi, long& work);

}  // namespace fewbit::solver
