#pragma once

// Few-Bit Backward (Novikov et al.), equation 7, with linear memory (equations 8 and 9): the best
// way to cut an axis into m segments when cut k may lie on the borders of set k only.
// Two ways to find the best left end for every right end:
// - pruned: the cost of a segment grows with inclusion, so the search stops as soon as the segment
//   alone costs more than the best total. Exact, and leaves about n/m candidates of n.
// - monge: where f' is monotone between both sets the cost has a negative mixed difference in its
// two
//   ends, so best left ends ascend with the right end: divide and conquer, O((n + m) log n).
//   (f' of GELU is not monotone: on the x axis this holds for some stretches only.)

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "search/axis.hpp"

namespace fewbit::solver {

using BorderSet = std::vector<Border>;
using IndexSet = std::vector<uint32_t>;  ///< ascending indices of borders

template <class Cost>
class SegmentProgram {
 public:
  /// Whether f' is monotone between two positions.
  using Monotone = std::function<bool(double, double)>;

  /// `borders` ascend; the first and the last set hold one index each: the axis' ends. `borders`
  /// must outlive this object.
  SegmentProgram(const BorderSet& borders, std::vector<IndexSet> sets, const Monotone& monotone)
      : borders_(borders), sets_(std::move(sets)), monotone_(monotone) {
    const size_t last = segments();
    forward_.resize(last + 1);
    forward_[0] = {0.0};
    for (size_t k = 1; k <= last; ++k) {
      forward_[k] =
          Row<true>{borders_, sets_[k - 1], sets_[k], forward_[k - 1], work_}.search(monotone);
    }
  }

  /// The other half of the program, which best_through() needs.
  void look_back() {
    const size_t last = segments();
    backward_.resize(last + 1);
    backward_[last] = {0.0};
    for (size_t k = last; k-- > 1;) {
      backward_[k] =
          Row<false>{borders_, sets_[k + 1], sets_[k], backward_[k + 1], work_}.search(monotone_);
    }
  }

  /// Evaluations of the cost so far.
  double work() const { return work_; }

  size_t segments() const { return sets_.size() - 1; }
  double best() const { return forward_.back().front(); }
  const IndexSet& set(size_t k) const { return sets_[k]; }

  /// The best total of all programs whose cut k lies on member i of set k; after look_back().
  double best_through(size_t k, size_t i) const { return forward_[k][i] + backward_[k][i]; }

  /// Positions of the inner cuts of a best program.
  std::vector<double> cuts() const {
    std::vector<double> result;
    uint32_t right = sets_.back().front();
    for (size_t k = segments(); k > 1; --k) {
      const IndexSet& set = sets_[k - 1];
      double best_total = kInfinity;
      uint32_t best = set.front();
      for (size_t i = 0; i < set.size() && set[i] <= right; ++i) {
        const double total = forward_[k - 1][i] + Cost::cost(borders_[set[i]], borders_[right]);
        if (total < best_total) {
          best_total = total;
          best = set[i];
        }
      }
      right = best;
      result.push_back(borders_[right].position);
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  /// One step of the program. Forward: `known` holds totals at the borders `from`, left of the
  /// borders `to`; backward the same with the sides exchanged.
  template <bool forward>
  struct Row {
    const BorderSet& borders;
    const IndexSet& from;
    const IndexSet& to;
    const std::vector<double>& known;
    double& work;
    std::vector<double> totals = {};

    std::vector<double> search(const Monotone& monotone) {
      totals.assign(to.size(), kInfinity);
      const uint32_t lo = std::min(from.front(), to.front());
      const uint32_t hi = std::max(from.back(), to.back());
      if (monotone(borders[lo].position, borders[hi].position)) {
        divide(0, to.size(), 0, from.size());
      } else {
        for (size_t i = 0; i < to.size(); ++i) totals[i] = nearest_first(to[i]);
      }
      return std::move(totals);
    }

    double cost(uint32_t a, uint32_t b) const {
      return forward ? Cost::cost(borders[a], borders[b]) : Cost::cost(borders[b], borders[a]);
    }

    double nearest_first(uint32_t end) {
      double best = kInfinity;
      size_t steps = 0;
      if constexpr (forward) {
        const auto stop = std::upper_bound(from.begin(), from.end(), end) - from.begin();
        for (auto j = static_cast<size_t>(stop); j-- > 0;) {
          const double segment = cost(from[j], end);
          ++steps;
          if (segment >= best) break;
          best = std::min(best, known[j] + segment);
        }
      } else {
        const auto start = std::lower_bound(from.begin(), from.end(), end) - from.begin();
        for (auto j = static_cast<size_t>(start); j < from.size(); ++j) {
          const double segment = cost(from[j], end);
          ++steps;
          if (segment >= best) break;
          best = std::min(best, known[j] + segment);
        }
      }
      work += static_cast<double>(steps);
      return best;
    }

    void divide(size_t row_begin, size_t row_end, size_t column_begin, size_t column_end) {
      if (row_begin >= row_end) return;
      const size_t row = row_begin + (row_end - row_begin) / 2;
      size_t best = forward ? column_begin : column_end - 1;
      work += static_cast<double>(column_end - column_begin);
      for (size_t j = column_begin; j < column_end; ++j) {
        if (forward ? from[j] > to[row] : from[j] < to[row]) continue;
        const double total = known[j] + cost(from[j], to[row]);
        if (total < totals[row]) {
          totals[row] = total;
          best = j;
        }
      }
      divide(row_begin, row, column_begin, best + 1);
      divide(row + 1, row_end, best, column_end);
    }
  };

  const BorderSet& borders_;
  std::vector<IndexSet> sets_;
  Monotone monotone_;
  double work_ = 0.0;
  std::vector<std::vector<double>> forward_;   ///< [k][i]: best total of what lies before
  std::vector<std::vector<double>> backward_;  ///< [k][i]: best total of what lies behind
};

}  // namespace fewbit::solver
