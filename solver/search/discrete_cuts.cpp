#include "search/discrete_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "search/snap.hpp"
#include "table/rounding.hpp"

namespace fewbit::solver {

namespace {

/// Where f' first passes the middle of the levels on its way from the left value to the right one.
std::optional<double> crossing(const Derivative& derivative, const Neighbours& values) {
  const double middle = 0.5 * values.left_level + 0.5 * values.right_level;
  const bool rising = values.left_level < values.right_level;
  const auto passes = [&](double before, double after) {
    if (!rising) std::swap(before, after);
    return before < after && before <= middle && middle <= after;
  };
  double before = derivative.value(values.left);
  for (const Branch& branch : derivative.branches()) {
    if (branch.hi <= values.left || branch.lo >= values.right) continue;
    const double from = std::max(branch.lo, values.left);
    const double to = std::min(branch.hi, values.right);
    const double first = derivative.value(from, branch.piece);
    const double last = derivative.value(to, branch.piece);
    if (passes(before, first)) return from;
    if (passes(first, last)) {
      const auto [small, large] = std::minmax(branch.value_lo, branch.value_hi);
      return derivative.solve(branch, std::clamp(middle, small, large));
    }
    before = last;
  }
  return std::nullopt;
}

}  // namespace

double cut_between(const Derivative& derivative, const Neighbours& values, DataType dtype,
                   bool positive) {
  const auto [left, right, left_level, right_level] = values;
  const auto fits = [left = left, right = right, positive](double cut) {
    return cut >= left && cut < right && (!positive || cut > 0.0);
  };
  const double halfway = left + 0.5 * (right - left);
  double cut = crossing(derivative, values).value_or(halfway);
  if (!fits(cut)) cut = fits(halfway) ? halfway : left;
  const double decimal = round_to_decimals(cut);
  if (fits(decimal)) cut = decimal;
  if (fits(round_down(cut, dtype))) return round_down(cut, dtype);
  const double up = -round_down(-left, dtype);
  return fits(up) ? up : cut;
}

}  // namespace fewbit::solver
