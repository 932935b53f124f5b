#include "expression/derivative.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "expression/block.hpp"
#include "expression/branches.hpp"
#include "expression/evaluate.hpp"
#include "expression/finite.hpp"
#include "expression/pieces.hpp"
#include "expression/range.hpp"
#include "expression/stretches.hpp"
#include "expression/third_order.hpp"

namespace fewbit::solver {

namespace {

Jet<Interval> jet_over(const Expression& f, double a, double b) {
  return f.evaluate(Jet<Interval>{{a, b}, Interval(1.0), Interval(0.0)});
}

/// Both enclose the same.
Interval common_part(const Interval& x, const Interval& y) {
  const double lower = std::max(x.lower(), y.lower());
  const double upper = std::min(x.upper(), y.upper());
  return lower <= upper ? Interval(lower, upper) : x;
}

/// Beyond these the squares of f' and their sums leave the range of a double.
constexpr double kLargestDerivative = 1e120;
constexpr double kSmallestRange = 1e-120;
/// Domains beyond this are refused for the same reason.
constexpr double kLargestEnd = 1e30;
/// Of the largest |f'|: what stretches may leave unresolved.
constexpr double kResolution = 2e-16;

void check_magnitudes(const AttainedRange& range, const Expression& f) {
  const double most = std::max(std::abs(range.smallest), std::abs(range.largest));
  const double swing = range.largest - range.smallest;
  if (most <= kLargestDerivative && (swing == 0.0 || swing >= kSmallestRange)) return;
  throw Error("expression: the derivative runs from " + shortest(range.smallest) + " to " +
              shortest(range.largest) +
              ", whose squares a double cannot hold; accepted are magnitudes up to 1e+120 and a "
              "range of at least 1e-120, so scale it: " +
              f.text());
}

}  // namespace

Derivative::Derivative(const Expression& f, double lo, double hi) {
  if (!(lo < hi) || !std::isfinite(lo) || !std::isfinite(hi)) {
    throw Error("domain: [" + shortest(lo) + ", " + shortest(hi) + "] is not a finite interval");
  }
  if (std::max(std::abs(lo), std::abs(hi)) > kLargestEnd) {
    throw Error("domain: [" + shortest(lo) + ", " + shortest(hi) + "] reaches beyond 1e+30");
  }
  long work = 2000000;
  std::vector<size_t> nodes;
  for (const Piece& piece : split_at_kinks(f, lo, hi)) {
    check_finite(f, piece, work);
    nodes.push_back(piece.smooth.nodes().size());
    borders_.push_back(piece.lo);
    pieces_.push_back(piece.smooth);
  }
  borders_.push_back(hi);
  const AttainedRange range = attained_range(*this);
  check_magnitudes(range, f);
  const double most = std::max(std::abs(range.smallest), std::abs(range.largest));
  BranchPattern pattern = find_branches(*this, range.largest - range.smallest, most, nodes);
  branches_ = std::move(pattern.branches);
  pattern_error_ = pattern.error;
  stretches_ = resolve(*this, kResolution * most);
}

size_t Derivative::piece_of(double x) const {
  const auto border = std::lower_bound(borders_.begin() + 1, borders_.end() - 1, x);
  return static_cast<size_t>(border - borders_.begin()) - 1;
}

double Derivative::value(double x, size_t piece) const {
  double first = 0.0;
  evaluate_block(pieces_[piece], &x, 1, nullptr, &first, nullptr);
  return first;
}

double Derivative::slope(double x, size_t piece) const {
  double first = 0.0;
  double second = 0.0;
  evaluate_block(pieces_[piece], &x, 1, nullptr, &first, &second);
  return second;
}

void Derivative::evaluate(std::span<const double> x, size_t piece, std::span<double> values,
                          std::span<double> slopes) const {
  for (size_t i = 0; i < x.size(); i += kBlockPoints) {
    const size_t count = std::min(kBlockPoints, x.size() - i);
    evaluate_block(pieces_[piece], x.data() + i, count, nullptr, values.data() + i,
                   slopes.empty() ? nullptr : slopes.data() + i);
  }
}

Interval Derivative::bounds(double a, double b, size_t piece) const {
  const Jet<Interval> jet = jet_over(pieces_[piece], a, b);
  const double middle = 0.5 * (a + b);
  const Interval at_middle = jet_over(pieces_[piece], middle, middle).first;
  const Interval mean_form = at_middle + jet.second * (Interval(a, b) - Interval(middle));
  return common_part(jet.first, mean_form);
}

Interval Derivative::slope_bounds(double a, double b, size_t piece) const {
  return jet_over(pieces_[piece], a, b).second;
}

Interval Derivative::tight_slope_bounds(double a, double b, size_t piece, double clear) const {
  const HigherDerivatives over = higher_derivatives(pieces_[piece], Interval(a, b));
  if (over.second.lower() > clear || over.second.upper() < -clear) return over.second;
  const double middle = 0.5 * (a + b);
  const Interval at_middle = jet_over(pieces_[piece], middle, middle).second;
  return common_part(over.second, at_middle + over.third * (Interval(a, b) - Interval(middle)));
}

TaylorBounds Derivative::taylor(double a, double b, size_t piece) const {
  const TaylorBounds of_f = taylor_bounds(pieces_[piece], a, b);
  TaylorBounds bounds{};
  for (size_t j = 0; j + 1 < of_f.size(); ++j) {
    bounds[j] = static_cast<double>(j + 1) * of_f[j + 1];
  }
  bounds.back() = INFINITY;
  return bounds;
}

double Derivative::solve(const Branch& branch, double value) const {
  double lo = branch.lo;
  double hi = branch.hi;
  const double share = (value - branch.value_lo) / (branch.value_hi - branch.value_lo);
  double x = lo + std::clamp(share, 0.0, 1.0) * (hi - lo);
  double last_step = 0.0;
  double last_slope = 0.0;
  for (int iteration = 0; iteration < 200; ++iteration) {
    double first = 0.0;
    double second = 0.0;
    evaluate_block(pieces_[branch.piece], &x, 1, nullptr, &first, &second);
    if (first == value) return x;
    ((first < value) == (branch.direction > 0) ? lo : hi) = x;
    const double step = (value - first) / second;
    const double next = x + step;
    const bool inside = next > lo && next < hi;
    if (next == x) return x;
    // The next step is about C times the square of this one, with C from how the slope changed on
    // the way here: if that is little, for from afar a narrow feature looks like nothing.
    const double change = std::abs(second - last_slope);
    const double next_step = 0.5 * change * step * step / std::abs(second * last_step);
    const bool near = inside && last_step != 0.0 && change <= 0.25 * std::abs(second);
    if (near && next_step <= 2e-17 * std::abs(x)) return next;
    // Newton where it stays inside and the bracket shrinks well; else the middle.
    const bool bisect = !inside || (iteration > 20 && iteration % 2 == 0);
    last_step = bisect ? 0.0 : step;
    last_slope = second;
    x = bisect ? 0.5 * (lo + hi) : next;
    if (x <= lo || x >= hi) return std::clamp(x, branch.lo, branch.hi);
  }
  return x;
}

double Derivative::min_value() const {
  double smallest = INFINITY;
  for (const Branch& b : branches_) smallest = std::min({smallest, b.value_lo, b.value_hi});
  return smallest;
}

double Derivative::max_value() const {
  double largest = -INFINITY;
  for (const Branch& b : branches_) largest = std::max({largest, b.value_lo, b.value_hi});
  return largest;
}

bool Derivative::is_step_function() const {
  return std::all_of(branches_.begin(), branches_.end(),
                     [](const Branch& branch) { return branch.direction == 0; });
}

}  // namespace fewbit::solver
