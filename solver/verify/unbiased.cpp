#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "verify/conditions.hpp"
#include "verify/value_measure.hpp"

namespace fewbit::solver {

namespace {

constexpr double kUnresolved = 1e-12;
/// What a printed residual knows of rounding is cruder than unresolved().
constexpr double kCruder = 64.0;
/// Where the balance is nothing but rounding, distances are too; up to here.
constexpr double kLargestNoise = 0.1;

/// What lies between two neighbouring levels.
struct Gap {
  double mass = 0.0;
  double from_left = 0.0;   ///< integral of v - left level
  double from_right = 0.0;  ///< integral of right level - v
  double error = 0.0;       ///< integral of the product
};

class UnbiasedCheck {
 public:
  UnbiasedCheck(const Table& table, const InputAxis& axis)
      : levels_(table.levels),
        axis_(axis),
        values_(axis),
        gaps_(levels_.size() - 1),
        atoms_(levels_.size(), 0.0) {
    const auto& f = axis.derivative();
    span_ = f.max_value() - f.min_value();
    size_ = std::max(std::fabs(f.max_value()), std::fabs(f.min_value()));
    for (const Branch& branch : f.branches()) add_branch(branch);
  }

  double error() const {
    double error = 0.0;
    for (const Gap& gap : gaps_) error += gap.error;
    return error;
  }

  /// Distance of level j's imbalance from what stationarity accepts, as a shift of values.
  double imbalance(size_t j) const {
    const Gap& left = gaps_[j - 1];
    const Gap& right = gaps_[j];
    if (!has_mass(j)) return 0.0;
    const double balance = left.from_left - right.from_right;
    // An atom on the level makes the error bend there: any slope between the two sides' will do.
    const double low = -(levels_[j] - levels_[j - 1]) * atoms_[j];
    const double high = (levels_[j + 1] - levels_[j]) * atoms_[j];
    return (balance - std::clamp(balance, low, high)) / gap_mass(j);
  }

  /// What no number of the table's size resolves of a level, as a distance.
  double unresolved() const {
    return kUnresolved * size_ + axis_.noise() / std::sqrt(axis_.total().mass) +
           axis_.displacement() * span_;
  }

  /// How far imbalance(j) moves when the level does by `shell`.
  double rounding(size_t j, double shell) const {
    if (!has_mass(j)) return HUGE_VAL;
    const double moved = values_.below(levels_[j] + shell, true).mass -
                         values_.below(levels_[j] - shell, false).mass - atoms_[j];
    return (levels_[j + 1] - levels_[j - 1]) * std::max(0.0, moved) / gap_mass(j) +
           axis_.noise() / std::sqrt(gap_mass(j)) +
           span_ * (5e-13 + axis_.displacement() + 1e-15 * axis_.total().mass / gap_mass(j));
  }

  /// How far level j is from its best place between its neighbours.
  double distance(size_t j) const {
    if (std::fabs(imbalance(j)) <= rounding(j, unresolved())) return 0.0;
    const AxisMoments below = values_.below(levels_[j - 1], true);
    const AxisMoments above = values_.below(levels_[j + 1], false);
    const double lower = levels_[j - 1] - values_.center();
    const double upper = levels_[j + 1] - values_.center();
    double lo = levels_[j - 1];
    double hi = levels_[j + 1];
    for (double y = lo + (hi - lo) / 2; lo < y && y < hi; y = lo + (hi - lo) / 2) {
      const AxisMoments here = values_.below(y, true);
      const AxisMoments left = here - below;
      const AxisMoments right = above - here;
      const double balance = (left.first - lower * left.mass) - (upper * right.mass - right.first);
      (balance < 0.0 ? lo : hi) = y;
    }
    return std::fabs(hi - levels_[j]);
  }

  /// Else level j may stand anywhere.
  bool has_mass(size_t j) const { return gap_mass(j) > 1e-18 * axis_.total().mass; }

  double gap_mass(size_t j) const { return gaps_[j - 1].mass + gaps_[j].mass; }
  double span() const { return span_; }

 private:
  void add_branch(const Branch& branch) {
    std::vector<double> cuts = {branch.lo, branch.hi};
    const auto [small, large] = std::minmax(branch.value_lo, branch.value_hi);
    if (branch.direction == 0) {
      add_atom(branch);
      return;
    }
    for (const double level : levels_) {
      if (level > small && level < large) cuts.push_back(axis_.derivative().solve(branch, level));
    }
    std::sort(cuts.begin(), cuts.end());
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      if (!(cuts[i] < cuts[i + 1])) continue;
      // Between the values of both ends: in the middle f' may have come to a level by rounding.
      const double from = axis_.derivative().value(cuts[i], branch.piece);
      const double to = axis_.derivative().value(cuts[i + 1], branch.piece);
      add(cuts[i], cuts[i + 1], from + (to - from) / 2);
    }
  }

  void add_atom(const Branch& branch) {
    const double value = branch.value_lo;
    for (size_t j = 0; j < levels_.size(); ++j) {
      if (std::fabs(value - levels_[j]) > 1e-13 * span_) continue;
      atoms_[j] += axis_.integrate(branch.lo, branch.hi, value).mass;
      return;
    }
    add(branch.lo, branch.hi, value);
  }

  /// [a, b] on x, all of whose values lie in the gap that holds `value`.
  void add(double a, double b, double value) {
    const auto right = std::upper_bound(levels_.begin() + 1, levels_.end() - 1, value);
    Gap& gap = gaps_[static_cast<size_t>(right - levels_.begin()) - 1];
    const double width = *right - *(right - 1);
    const AxisMoments here = axis_.integrate(a, b, *(right - 1));
    gap.mass += here.mass;
    gap.from_left += here.first;
    gap.from_right += width * here.mass - here.first;
    gap.error += axis_.integrate_between(a, b, *(right - 1), *right);
  }

  const std::vector<double>& levels_;
  const InputAxis& axis_;
  const ValueMeasure values_;
  std::vector<Gap> gaps_;
  std::vector<double> atoms_;  ///< mass on the levels themselves
  double span_ = 0.0;
  double size_ = 0.0;  ///< largest |f'|
};

}  // namespace

Measured check_unbiased(const Table& table, const InputAxis& axis, Findings& findings) {
  const auto& levels = table.levels;
  const auto& f = axis.derivative();
  const UnbiasedCheck check(table, axis);
  const double span = check.span();
  const auto outer = [&](size_t j, double end) {
    findings.item("levels", j, std::fabs(levels[j] - end) <= 1e-14 * span,
                  fmt::format("{} is not the end of the range of f', {}", shortest(levels[j]),
                              shortest(end)));
  };
  outer(0, f.min_value());
  outer(levels.size() - 1, f.max_value());
  Measured measured;
  for (size_t j = 1; j + 1 < levels.size(); ++j) {
    const double miss = std::fabs(check.imbalance(j));
    const double accepted = check.rounding(j, table.residual * span + check.unresolved());
    measured.residual = std::max(measured.residual, check.distance(j) / span);
    findings.item("levels", j, miss <= accepted,
                  fmt::format("{} is not stationary: imbalance {:.2g}, {:.2g} accepted",
                              shortest(levels[j]), miss, accepted));
  }
  findings.summarise("levels", "outer ones are the range of f', inner ones are stationary");
  measured.error = check.error();
  measured.rounding = measured.residual == 0.0 ? std::min(table.residual, kLargestNoise)
                                               : kCruder * check.unresolved() / span;
  return measured;
}

}  // namespace fewbit::solver
