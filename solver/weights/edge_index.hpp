#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace fewbit::solver {

/// Finds the bin of a number among ascending edges: one multiplication and one step where edges are
/// about equidistant, never worse than a binary search.
class EdgeIndex {
 public:
  /// At least two ascending edges.
  explicit EdgeIndex(std::vector<double> edges)
      : edges_(std::move(edges)),
        buckets_per_unit_(static_cast<double>(edges_.size() - 1) /
                          (edges_.back() - edges_.front())),
        first_(edges_.size() + 1) {
    // bucket_of never descends, so an edge of an earlier bucket is less than x, one of a later
    // bucket greater: only the edges of x's own bucket remain to be compared.
    size_t edge = 0;
    for (size_t bucket = 0; bucket < first_.size(); ++bucket) {
      while (edge < edges_.size() && bucket_of(edges_[edge]) < bucket) ++edge;
      first_[bucket] = edge;
    }
  }

  /// The i with edges[i] < x <= edges[i + 1], for x within the edges; 0 for the lowest edge itself.
  size_t bin_of(double x) const {
    const size_t bucket = bucket_of(x);
    const auto begin = edges_.begin() + static_cast<std::ptrdiff_t>(first_[bucket]);
    const auto end = edges_.begin() + static_cast<std::ptrdiff_t>(first_[bucket + 1]);
    const auto upper = std::lower_bound(begin, end, x) - edges_.begin();
    return static_cast<size_t>(std::max<std::ptrdiff_t>(upper - 1, 0));
  }

  const std::vector<double>& edges() const { return edges_; }

 private:
  size_t bucket_of(double x) const {
    const auto bucket = static_cast<size_t>((x - edges_.front()) * buckets_per_unit_);
    return std::min(bucket, edges_.size() - 1);
  }

  std::vector<double> edges_;
  double buckets_per_unit_;
  std::vector<size_t> first_;  ///< per bucket: the first edge in it or in a later one
};

}  // namespace fewbit::solver
