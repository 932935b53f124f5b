#include "expression/branches.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace fewbit::solver {

namespace {

constexpr double kFlat = 1e-16;

/// Thrown at the x where the bounds do not decide.
struct TooLoose {
  double x;
};

/// A branch on the way, with what f' may swing by on its parts of no direction.
struct Leaf : Branch {
  double undirected;
};

class BranchFinder {
 public:
  BranchFinder(const Derivative& derivative, double flat, bool tight, size_t most)
      : derivative_(derivative), flat_(flat), tight_(tight), most_(most) {}

  BranchPattern run() {
    const std::vector<double>& borders = derivative_.borders();
    for (size_t piece = 0; piece < derivative_.piece_count(); ++piece) {
      leaves_.clear();
      search(borders[piece], borders[piece + 1], piece);
      absorb_slivers(borders[piece + 1] - borders[piece]);
      for (const Leaf& leaf : leaves_) close(leaf);
    }
    return {std::move(branches_), error_};
  }

 private:
  void search(double lo, double hi, size_t piece) {
    if (++evaluations_ > most_) throw TooLoose{lo};
    const Interval slope = tight_ ? derivative_.tight_slope_bounds(lo, hi, piece)
                                  : derivative_.slope_bounds(lo, hi, piece);
    const double middle = 0.5 * (lo + hi);
    int direction = 0;
    if ((hi - lo) * magnitude(slope) > flat_ && middle > lo && middle < hi) {
      if (slope.lower() >= 0.0) {
        direction = 1;
      } else if (slope.upper() <= 0.0) {
        direction = -1;
      } else {
        search(lo, middle, piece);
        search(middle, hi, piece);
        return;
      }
    }
    add({{lo, hi, 0.0, 0.0, direction, piece},
         direction == 0 ? (hi - lo) * magnitude(slope) : 0.0});
  }

  void add(const Leaf& leaf) {
    if (!leaves_.empty() && leaves_.back().direction == leaf.direction) {
      leaves_.back().hi = leaf.hi;
      leaves_.back().undirected += leaf.undirected;
    } else {
      leaves_.push_back(leaf);
    }
  }

  /// A short flat stretch, as around a turning point, is shared by its neighbours, so that a
  /// turning point in its middle is found exactly: within it f' moves by less than rounding.
  void absorb_slivers(double width) {
    std::vector<Leaf> raw;
    raw.swap(leaves_);
    double start = NAN;  // of the next branch, where a sliver is in front of it
    double undirected = 0.0;
    for (Leaf leaf : raw) {
      const bool sliver = leaf.direction == 0 && leaf.hi - leaf.lo < 1e-5 * width && raw.size() > 1;
      if (sliver) {
        if (std::isnan(start)) start = leaves_.empty() ? leaf.lo : 0.5 * (leaf.lo + leaf.hi);
        undirected += leaf.undirected;
        if (leaves_.empty()) continue;
        leaves_.back().hi = start;
        leaves_.back().undirected += leaf.undirected;
        continue;
      }
      if (!std::isnan(start)) leaf.lo = std::exchange(start, NAN);
      leaf.undirected += std::exchange(undirected, 0.0);
      add(leaf);
    }
    if (leaves_.empty()) {
      leaves_.push_back(
          {{raw.front().lo, raw.back().hi, 0.0, 0.0, 0, raw.front().piece}, undirected});
    }
    leaves_.back().hi = raw.back().hi;
  }

  void close(const Leaf& leaf) {
    Branch branch = leaf;
    branch.value_lo = derivative_.value(leaf.lo, leaf.piece);
    branch.value_hi = derivative_.value(leaf.hi, leaf.piece);
    if ((branch.value_hi - branch.value_lo) * branch.direction <= 0.0) branch.direction = 0;
    branches_.push_back(branch);
    error_ = std::max(error_, leaf.undirected);
  }

  const Derivative& derivative_;
  double flat_;
  bool tight_;
  size_t most_;
  size_t evaluations_ = 0;
  std::vector<Leaf> leaves_;  ///< of the current piece
  std::vector<Branch> branches_;
  double error_ = 0.0;
};

}  // namespace

BranchPattern find_branches(const Derivative& derivative, double range, double largest,
                            size_t nodes) {
  // The swing of a constant f' is nothing but rounding.
  const double flat = kFlat * (range > 1e-9 * largest ? range : std::max(largest, 1e-280));
  try {
    return BranchFinder(derivative, flat, false, 1000 + 200000 / nodes).run();
  } catch (const TooLoose&) {
  }
  try {
    return BranchFinder(derivative, flat, true, 1000 + 2500000 / nodes).run();
  } catch (const TooLoose& loose) {
    throw Error("expression: cannot bound the second derivative near x = " + shortest(loose.x) +
                ": too much cancellation (sigmoid, softplus, tanh and expm1 cancel less than exp)");
  }
}

}  // namespace fewbit::solver
