#pragma once

#include <functional>
#include <vector>

#include "search/axis.hpp"

namespace fewbit::solver {

/// About a second's work: the same everywhere, unlike a second.
inline constexpr double kUsualWork = 8e8;

struct BoundOptions {
  size_t first_cells = 1024;
  double target_gap = 8e-10;       ///< 1: no bound is asked for
  double work_limit = kUsualWork;  ///< evaluations of a segment's cost
};

struct BoundResult {
  std::vector<double> cuts;  ///< positions of the inner cuts, ascending
  double cost;               ///< attained by `cuts`
  double lower_bound;        ///< no choice of at most as many cuts costs less
};

/// A local improvement of inner cuts: returns cuts that cost no more.
using Polish = std::function<std::vector<double>(const std::vector<double>&)>;

/// The cheapest way to cut the axis into `segments` segments, each costing Cost::cost, with a
/// proof. See branch_and_bound.cpp for the argument. Instantiated for VarianceCost and
/// RoundingCost.
template <class Cost>
BoundResult minimise_segments(const Axis& axis, size_t segments, const Polish& polish,
                              const BoundOptions& options);

}  // namespace fewbit::solver
