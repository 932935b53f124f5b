#include "expression/range.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

namespace fewbit::solver {

namespace {

struct Cell {
  double lo;
  double hi;
  size_t piece;
  Interval bounds;
};

class RangeSearch {
 public:
  explicit RangeSearch(const Derivative& derivative) : derivative_(derivative) {
    const std::vector<double>& borders = derivative.borders();
    for (size_t piece = 0; piece < derivative.piece_count(); ++piece) {
      see(borders[piece], piece);
      see(borders[piece + 1], piece);
      add(borders[piece], borders[piece + 1], piece);
    }
  }

  AttainedRange run() {
    constexpr int kMostHalvings = 20000;
    for (int i = 0; i < kMostHalvings && !cells_.empty(); ++i) {
      const Entry entry = cells_.top();
      const double beyond = beyond_seen(entry.cell.bounds);
      if (beyond <= accepted()) break;
      cells_.pop();
      const auto [lo, hi, piece, unused] = entry.cell;
      const double middle = lo + 0.5 * (hi - lo);
      if (middle <= lo || middle >= hi) continue;
      see(middle, piece);
      add(lo, middle, piece);
      add(middle, hi, piece);
    }
    return seen_;
  }

 private:
  /// Ordered by what the bounds reached beyond when the cell was added: no less than now.
  struct Entry {
    double beyond;
    Cell cell;
    bool operator<(const Entry& other) const { return beyond < other.beyond; }
  };

  void see(double x, size_t piece) {
    const double value = derivative_.value(x, piece);
    seen_.smallest = std::min(seen_.smallest, value);
    seen_.largest = std::max(seen_.largest, value);
  }

  double accepted() const {
    const double most = std::max(std::abs(seen_.smallest), std::abs(seen_.largest));
    return std::max(0.5 * (seen_.largest - seen_.smallest), 1e-9 * most);
  }

  double beyond_seen(const Interval& bounds) const {
    if (is_unknown(bounds)) return INFINITY;
    return std::max(bounds.upper() - seen_.largest, seen_.smallest - bounds.lower());
  }

  void add(double lo, double hi, size_t piece) {
    const Interval bounds = derivative_.bounds(lo, hi, piece);
    cells_.push({beyond_seen(bounds), {lo, hi, piece, bounds}});
  }

  const Derivative& derivative_;
  AttainedRange seen_{INFINITY, -INFINITY};
  std::priority_queue<Entry> cells_;
};

}  // namespace

AttainedRange attained_range(const Derivative& derivative) {
  return RangeSearch(derivative).run();
}

}  // namespace fewbit::solver
