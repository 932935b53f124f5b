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

class BranchFinder {
 public:
  BranchFinder(const Derivative& derivative, double flat, bool tight, size_t most)
      : derivative_(derivative), flat_(flat), tight_(tight), most_(most) {}

  std::vector<Branch> run() {
    const std::vector<double>& borders = derivative_.borders();
    for (size_t piece = 0; piece < derivative_.piece_count(); ++piece) {
      leaves_.clear();
      search(borders[piece], borders[piece + 1], piece);
      absorb_slivers(borders[piece + 1] - borders[piece]);
      for (const Branch& leaf : leaves_) close(leaf);
    }
    return std::move(branches_);
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
    add({lo, hi, 0.0, 0.0, direction, piece});
  }

  void add(const Branch& leaf) {
    if (!leaves_.empty() && leaves_.back().direction == leaf.direction) {
      leaves_.back().hi = leaf.hi;
    } else {
      leaves_.push_back(leaf);
    }
  }

  /// A short flat stretch, as around a turning point, joins its neighbour: within it f' moves by
  /// less than rounding.
  void absorb_slivers(double width) {
    std::vector<Branch> raw;
    raw.swap(leaves_);
    double pending = NAN;  // where a sliver without a left neighbour starts
    for (Branch leaf : raw) {
      const bool sliver = leaf.direction == 0 && leaf.hi - leaf.lo < 1e-5 * width && raw.size() > 1;
      if (sliver && !leaves_.empty()) {
        leaves_.back().hi = leaf.hi;
      } else if (sliver) {
        if (std::isnan(pending)) pending = leaf.lo;
      } else {
        if (!std::isnan(pending)) leaf.lo = std::exchange(pending, NAN);
        add(leaf);
      }
    }
    if (leaves_.empty())
      leaves_.push_back({raw.front().lo, raw.back().hi, 0.0, 0.0, 0, raw.front().piece});
  }

  void close(Branch leaf) {
    leaf.value_lo = derivative_.value(leaf.lo, leaf.piece);
    leaf.value_hi = derivative_.value(leaf.hi, leaf.piece);
    if ((leaf.value_hi - leaf.value_lo) * leaf.direction <= 0.0) leaf.direction = 0;
    branches_.push_back(leaf);
  }

  const Derivative& derivative_;
  double flat_;
  bool tight_;
  size_t most_;
  size_t evaluations_ = 0;
  std::vector<Branch> leaves_;  ///< of the current piece
  std::vector<Branch> branches_;
};

}  // namespace

std::vector<Branch> find_branches(const Derivative& derivative, double range, double largest,
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
