// O(n^2) costs and at most O(k n^2) steps. A run that alone costs more than the best total so far
// ends the search for its left end, as longer ones cost no less.

#include "search/run_costs.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace fewbit::solver {

RunCosts RunCosts::of_variance(const std::vector<Cluster>& clusters) {
  RunCosts costs(clusters.size());
  for (size_t j = 1; j <= clusters.size(); ++j) {
    long double mass = 0.0L;
    long double mean = clusters[j - 1].mean;
    long double squares = 0.0L;
    for (size_t i = j; i-- > 0;) {
      const Cluster& next = clusters[i];
      const long double both = mass + next.mass;
      const long double apart = next.mean - mean;
      squares += next.squares + apart * apart * mass * next.mass / both;
      mean += apart * next.mass / both;
      mass = both;
      costs.set(i, j, squares);
    }
  }
  return costs;
}

RunCosts RunCosts::of_rounding(const std::vector<Cluster>& clusters) {
  RunCosts costs(clusters.size() - 1);
  for (size_t i = 0; i + 1 < clusters.size(); ++i) {
    const long double lower = clusters[i].mean;
    long double above_lower = 0.0L;  // the sum of mass (v - lower)
    long double cost = 0.0L;
    for (size_t j = i + 1; j < clusters.size(); ++j) {
      // The upper level moves from the value before to this one.
      cost += above_lower * (static_cast<long double>(clusters[j].mean) - clusters[j - 1].mean);
      above_lower += clusters[j].mass * (clusters[j].mean - lower);
      costs.set(i, j, cost);
    }
  }
  return costs;
}

Runs cheapest_runs(const RunCosts& costs, size_t count) {
  constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
  const size_t n = costs.size();
  std::vector<long double> best(n + 1, kInfinity);
  best[0] = 0.0L;
  std::vector<std::vector<std::uint32_t>> begins(count, std::vector<std::uint32_t>(n + 1));
  for (size_t k = 0; k < count; ++k) {
    std::vector<long double> next(n + 1, kInfinity);
    for (size_t j = k + 1; j <= n; ++j) {
      for (size_t i = j; i-- > k;) {
        const long double cost = costs(i, j);
        if (cost >= next[j]) break;
        if (best[i] + cost >= next[j]) continue;
        next[j] = best[i] + cost;
        begins[k][j] = static_cast<std::uint32_t>(i);
      }
    }
    best = std::move(next);
  }
  Runs runs{{}, static_cast<double>(best[n])};
  size_t end = n;
  for (size_t k = count; k-- > 0;) {
    runs.ends.push_back(end);
    end = begins[k][end];
  }
  std::reverse(runs.ends.begin(), runs.ends.end());
  return runs;
}

}  // namespace fewbit::solver
