#pragma once

#include "verify/part_cost.hpp"

namespace fewbit::solver {

struct BoundRequest {
  PartCost cost = PartCost::spread;
  int parts = 2;              ///< at most this many parts
  double claim = 0.0;         ///< the bound to be confirmed; the work ends there
  double attained = 0.0;      ///< total of some cut; infinity where none is known
  double rounding = 0.0;      ///< how far a computed total may be off
  double work_limit = 1.5e9;  ///< evaluations of the cost
};

/// A number that no cut of `line` into parts can be below: at least `request.claim` where that is
/// true and the work limit allows it.
double lower_bound_of(const Line& line, const BoundRequest& request);

}  // namespace fewbit::solver
