#pragma once

#include <cstdint>
#include <vector>

#include "verify/part_cost.hpp"

namespace fewbit::solver {

using Index = std::uint32_t;

/// One step of the dynamic program: for every target t the least total[s] + cost(s, t) over the
/// sources s that do not lie behind it.
struct Sweep {
  const std::vector<LinePoint>& points;
  PartCosts cost;
  bool backward;  ///< sources lie after their targets, both lists descend
  bool monge;     ///< best sources move with their targets: divide and conquer

  std::vector<Index> sources;
  std::vector<double> totals;  ///< of the sources
  std::vector<Index> targets;
  double limit;  ///< what is above it need not be exact

  std::vector<double> least;   ///< result, of the targets
  std::vector<Index> parents;  ///< position in `sources`
  double work = 0.0;           ///< evaluations of the cost

  void run();

 private:
  double total(size_t s, size_t t) {
    ++work;
    const LinePoint& source = points[sources[s]];
    const LinePoint& target = points[targets[t]];
    return totals[s] + (backward ? cost(target, source) : cost(source, target));
  }
  bool reaches(size_t s, size_t t) const {
    return backward ? sources[s] >= targets[t] : sources[s] <= targets[t];
  }

  void run_pruned();
  void run_monge(size_t first, size_t last, size_t low, size_t high);
};

}  // namespace fewbit::solver
