#pragma once

#include "expression/derivative.hpp"

namespace fewbit::solver {

/// Attained values of f': all of its values lie within half their distance beyond them (or within
/// 1e-9 of the larger magnitude, where that is more).
struct AttainedRange {
  double smallest;
  double largest;
};

/// By bisection where interval bounds reach furthest beyond what has been seen: finds the one peak
/// of a function that is flat elsewhere, however narrow it is.
AttainedRange attained_range(const Derivative& derivative);

}  // namespace fewbit::solver
