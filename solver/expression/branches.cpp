#include "expression/branches.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
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
  BranchFinder(const Derivative& derivative, const std::vector<size_t>& nodes, double flat,
               bool tight, size_t work)
      : derivative_(derivative),
        nodes_(nodes),
        flat_(flat),
        tight_(tight),
        work_(work + 1000 * *std::max_element(nodes.begin(), nodes.end())) {}

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
    if (work_ < nodes_[piece]) throw TooLoose{lo};
    work_ -= nodes_[piece];
    // Twice what is flat: of one sign beyond that no narrower bounds could be flat.
    const double clear = 2.0 * flat_ / (hi - lo);
    const Interval slope = tight_ ? derivative_.tight_slope_bounds(lo, hi, piece, clear)
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
  const std::vector<size_t>& nodes_;
  double flat_;
  bool tight_;
  size_t work_;               ///< nodes that may still be visited
  std::vector<Leaf> leaves_;  ///< of the current piece
  std::vector<Branch> branches_;
  double error_ = 0.0;
};

/// The shortest stretch found at x in which samples of f' turn many times.
std::optional<Interval> oscillation(const Derivative& derivative, double x, double range) {
  constexpr int kPoints = 64;
  constexpr int kMany = 20;
  constexpr double kSizeable = 1e-3;
  std::optional<Interval> found;
  const double whole = derivative.hi() - derivative.lo();
  for (double width = whole; x + width > x; width *= 0.5) {
    const double lo = std::max(derivative.lo(), std::min(x, derivative.hi() - width));
    int turns = 0;
    double before = 0.0;
    for (int i = 1; i <= kPoints; ++i) {
      const double step = derivative.value(std::min(lo + width * i / kPoints, derivative.hi())) -
                          derivative.value(lo + width * (i - 1) / kPoints);
      const bool both = std::min(std::abs(step), std::abs(before)) > kSizeable * range;
      if (both && (step > 0.0) != (before > 0.0)) ++turns;
      before = step;
    }
    if (turns >= kMany) found = Interval(lo, std::min(lo + width, derivative.hi()));
  }
  return found;
}

[[noreturn]] void refuse(const Derivative& derivative, double x, double range) {
  if (const auto where = oscillation(derivative, x, range)) {
    throw Error("expression: the derivative turns too often for the domain [" +
                shortest(derivative.lo()) + ", " + shortest(derivative.hi()) +
                "]: at least 20 times in [" + shortest(where->lower()) + ", " +
                shortest(where->upper()) + "]; narrow the domain or slow the oscillation");
  }
  throw Error("expression: cannot bound the second derivative near x = " + shortest(x) +
              ": too much cancellation (sigmoid, softplus, tanh and expm1 cancel less than exp)");
}

}  // namespace

BranchPattern find_branches(const Derivative& derivative, double range, double largest,
                            const std::vector<size_t>& nodes) {
  // The swing of a constant f' is nothing but rounding.
  const double flat = kFlat * (range > 1e-9 * largest ? range : std::max(largest, 1e-280));
  try {
    return BranchFinder(derivative, nodes, flat, false, 200000).run();
  } catch (const TooLoose&) {
  }
  try {
    return BranchFinder(derivative, nodes, flat, true, 2500000).run();
  } catch (const TooLoose& loose) {
    refuse(derivative, loose.x, range);
  }
}

}  // namespace fewbit::solver
