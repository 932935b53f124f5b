// The pruned program walks away from its target and stops where the cost of the part alone is above
// the best total: exact for every cost that grows with inclusion. For costs with the quadrangle
// inequality (f' monotone along the line) divide and conquer needs O(n log n) instead.

#include "verify/sweep.hpp"

#include "base/infinity.hpp"

namespace fewbit::solver {

void Sweep::run() {
  least.assign(targets.size(), kInfinity);
  parents.assign(targets.size(), 0);
  if (monge) {
    run_monge(0, targets.size(), 0, sources.size());
  } else {
    run_pruned();
  }
}

void Sweep::run_pruned() {
  std::vector<double> lowest(totals);  // of this and all farther sources
  for (size_t s = 1; s < lowest.size(); ++s) lowest[s] = std::min(lowest[s], lowest[s - 1]);
  size_t end = 0;
  for (size_t t = 0; t < targets.size(); ++t) {
    while (end < sources.size() && reaches(end, t)) ++end;
    for (size_t s = end; s-- > 0;) {
      const double sum = total(s, t);
      if (sum < least[t]) {
        least[t] = sum;
        parents[t] = static_cast<Index>(s);
      }
      if (lowest[s] + (sum - totals[s]) >= std::min(least[t], limit)) break;
    }
  }
}

/// Targets [first, last), whose best sources are among [low, high).
void Sweep::run_monge(size_t first, size_t last, size_t low, size_t high) {
  if (first >= last) return;
  const size_t middle = first + (last - first) / 2;
  size_t best = low;
  for (size_t s = low; s < high && reaches(s, middle); ++s) {
    const double sum = total(s, middle);
    if (sum < least[middle]) {
      least[middle] = sum;
      best = s;
    }
  }
  parents[middle] = static_cast<Index>(best);
  run_monge(first, middle, low, best + 1);
  run_monge(middle + 1, last, best, high);
}

}  // namespace fewbit::solver
