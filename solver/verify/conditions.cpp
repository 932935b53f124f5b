#include "verify/conditions.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "table/rounding.hpp"

namespace fewbit::solver {

namespace {

/// The smallest value of the type above s: the exact threshold lies between s and it.
double next_value(double s, DataType dtype) {
  if (dtype == DataType::exact) return s;
  return -round_down(-std::nextafter(s, HUGE_VAL), dtype);
}

class IntervalCheck {
 public:
  IntervalCheck(const Table& table, const InputAxis& axis, Findings& findings)
      : table_(table), axis_(axis), findings_(findings) {
    const auto& f = axis.derivative();
    span_ = f.max_value() - f.min_value();
    size_ = std::max(std::fabs(f.max_value()), std::fabs(f.min_value()));
    slack_ = table.residual * span_;
    cuts_ = table.thresholds;
    cuts_.insert(cuts_.begin(), axis.lo());
    cuts_.push_back(axis.hi());
    for (double& cut : cuts_) cut = std::clamp(cut, axis.lo(), axis.hi());
  }

  /// Error and, for each level, the moments of its set about it.
  double measure() {
    sets_.assign(table_.levels.size(), {});
    rounding_.assign(table_.levels.size(), 0.0);
    for (size_t i = 0; i < table_.codes.size(); ++i) {
      const auto code = static_cast<size_t>(table_.codes[i]);
      const double level = table_.levels[code];
      sets_[code] += axis_.integrate(cuts_[i], cuts_[i + 1], level);
      rounding_[code] += moved_mass(i, level) + moved_mass(i + 1, level);
    }
    double error = 0.0;
    for (const AxisMoments& set : sets_) error += set.second;
    return error;
  }

  /// The smoothed objective looks beyond the domain, so `inside` may not be asked for.
  void places(bool inside) {
    for (size_t i = 0; i < table_.thresholds.size(); ++i) {
      const double s = table_.thresholds[i];
      const DataType dtype = table_.problem.dtype;
      findings_.item("thresholds", i, !inside || (s > axis_.lo() && s < axis_.hi()),
                     shortest(s) + " is not inside the domain");
      findings_.item("thresholds", i, round_down(s, dtype) == s,
                     shortest(s) + " is not a value of " + to_string(dtype));
    }
    findings_.summarise("thresholds", "at places where they can matter, values of the data type");
  }

  void levels() {
    for (size_t j = 0; j < sets_.size(); ++j) {
      const AxisMoments& set = sets_[j];
      const double total = axis_.total().mass;
      if (!(set.mass > 1e-18 * total)) continue;
      const double shift = set.first / set.mass;
      const double noise = axis_.noise() / std::sqrt(set.mass);
      // Where f' is far its largest value says nothing of this level's set.
      const double size =
          axis_.is_far() ? std::fabs(table_.levels[j]) + std::sqrt(set.second / set.mass) : size_;
      const double accepted =
          slack_ + noise + rounding_[j] / set.mass + size * (1e-14 + 1e-15 * total / set.mass);
      residual_ = std::max(residual_, std::fabs(shift) / span_);
      residual_rounding_ = std::max(residual_rounding_,
                                    (noise + size_ * (1e-15 + 1e-15 * total / set.mass)) / span_);
      findings_.item("levels", j, std::fabs(shift) <= accepted,
                     fmt::format("{} should be {:.2g} higher, {:.2g} accepted",
                                 shortest(table_.levels[j]), shift, accepted));
    }
    findings_.summarise("levels", "each is the mean of f' over its set");
  }

  void midpoints() {
    for (size_t i = 0; i < table_.thresholds.size(); ++i) midpoint(i);
    findings_.summarise("midpoints", "f' meets the midpoint of its levels at each threshold");
  }

  void nearest() {
    const auto& levels = table_.levels;
    for (size_t i = 0; i < table_.codes.size(); ++i) {
      const auto code = static_cast<size_t>(table_.codes[i]);
      const double from = i > 0 ? next_value(cuts_[i], table_.problem.dtype) : cuts_[i];
      if (!(from < cuts_[i + 1])) continue;
      const auto [smallest, largest] = axis_.range(from, cuts_[i + 1]);
      const double low = code > 0 ? (levels[code - 1] + levels[code]) / 2 : -HUGE_VAL;
      const double high =
          code + 1 < levels.size() ? (levels[code] + levels[code + 1]) / 2 : HUGE_VAL;
      const double accepted = slack_ + 1e-14 * size_ + value_rounding(i) + value_rounding(i + 1);
      const bool below = low - smallest <= accepted || gains_nothing(i, -HUGE_VAL, low, smallest);
      const bool above = largest - high <= accepted || gains_nothing(i, high, HUGE_VAL, largest);
      findings_.item(
          "codes", i, below && above,
          fmt::format("f' runs from {} to {}, nearest to level {} are {} to {}", shortest(smallest),
                      shortest(largest), code, shortest(low), shortest(high)));
    }
    findings_.summarise("codes", "each names the nearest level, no crossing is missing");
  }

  double residual() const { return residual_; }
  /// What rounding alone may make of it.
  double residual_rounding() const { return residual_rounding_; }

 private:
  double level_of(size_t interval) const {
    return table_.levels[static_cast<size_t>(table_.codes[interval])];
  }

  /// What f' may be off by at a cut, which moves by its own rounding.
  double value_rounding(size_t cut) const {
    const Derivative& f = axis_.derivative();
    const double s = cuts_[cut];
    const Interval value = f.bounds(s, s, f.piece_of(s));
    return value.upper() - value.lower() + 4e-16 * std::fabs(s * f.slope(s));
  }

  /// Where f' is inside (low, high), up to `farthest`, there is so little mass that no error shows
  /// how far it is from the end that is finite.
  bool gains_nothing(size_t interval, double low, double high, double farthest) const {
    const double miss = farthest - (std::isfinite(low) ? low : high);
    double mass = 0.0;
    for (const Branch& branch : axis_.derivative().branches()) {
      const double from = std::max(branch.lo, cuts_[interval]);
      const double to = std::min(branch.hi, cuts_[interval + 1]);
      if (from < to) mass += mass_inside(branch, from, to, low, high);
    }
    return mass * miss * miss <= axis_.hidden(1e-15);
  }

  double mass_inside(const Branch& branch, double from, double to, double low, double high) const {
    std::vector<double> ends = {from, to};
    const auto [small, large] = std::minmax(branch.value_lo, branch.value_hi);
    for (const double value : {low, high}) {
      if (branch.direction == 0 || !(value > small && value < large)) continue;
      ends.push_back(std::clamp(axis_.derivative().solve(branch, value), from, to));
    }
    std::sort(ends.begin(), ends.end());
    double mass = 0.0;
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
      const double middle = ends[i] + (ends[i + 1] - ends[i]) / 2;
      const double value = axis_.derivative().value(middle, branch.piece);
      if (value > low && value < high) mass += axis_.integrate(ends[i], ends[i + 1], 0.0).mass;
    }
    return mass;
  }

  /// Bound of the first moment about `level` that rounding a cut to the data type has moved.
  double moved_mass(size_t cut, double level) const {
    if (table_.problem.dtype == DataType::exact || cut == 0 || cut + 1 == cuts_.size()) return 0.0;
    const double next = std::min(next_value(cuts_[cut], table_.problem.dtype), axis_.hi());
    if (!(cuts_[cut] < next)) return 0.0;
    const auto [smallest, largest] = axis_.range(cuts_[cut], next);
    return axis_.integrate(cuts_[cut], next, 0.0).mass *
           std::max(std::fabs(smallest - level), std::fabs(largest - level));
  }

  void midpoint(size_t i) {
    const Derivative& f = axis_.derivative();
    const double s = cuts_[i + 1];
    const double middle = (level_of(i) + level_of(i + 1)) / 2;
    const size_t piece = f.piece_of(s);
    const bool kink = piece + 1 < f.piece_count() && f.borders()[piece + 1] == s;
    double low = f.value(s, piece);
    double high = kink ? f.value(s, piece + 1) : low;
    if (low > high) std::swap(low, high);
    const double next = std::min(next_value(s, table_.problem.dtype), axis_.hi());
    if (next > s) {
      const auto [smallest, largest] = axis_.range(s, next);
      low = std::min(low, smallest);
      high = std::max(high, largest);
    }
    const double miss = std::max({0.0, low - middle, middle - high});
    const double rounding = value_rounding(i + 1);
    const double accepted = slack_ + 1e-14 * size_ + rounding;
    const double near = 1e-9 * (axis_.hi() - axis_.lo());
    if (miss > accepted && axis_.integrate(s - near, s + near, 0.0).mass == 0.0) return;
    residual_ = std::max(residual_, miss / span_);
    residual_rounding_ = std::max(residual_rounding_, (1e-15 * size_ + rounding) / span_);
    const double slope = f.slope(s, piece);
    findings_.item("midpoints", i, miss <= accepted,
                   fmt::format("f'({}) is {}, the midpoint of its levels {}; {:.2g} to the side",
                               shortest(s), shortest(low), shortest(middle),
                               slope != 0.0 ? miss / std::fabs(slope) : HUGE_VAL));
  }

  const Table& table_;
  const InputAxis& axis_;
  Findings& findings_;
  double span_ = 0.0;   ///< of f'
  double size_ = 0.0;   ///< largest |f'|
  double slack_ = 0.0;  ///< what the printed residual owns up to
  std::vector<double> cuts_;
  std::vector<AxisMoments> sets_;
  std::vector<double> rounding_;
  double residual_ = 0.0;
  double residual_rounding_ = 0.0;
};

}  // namespace

Measured check_intervals(const Table& table, const InputAxis& axis, bool optimal,
                         Findings& findings) {
  IntervalCheck check(table, axis, findings);
  Measured measured;
  check.places(optimal);
  measured.error = check.measure();
  if (!optimal) return measured;
  check.levels();
  check.midpoints();
  if (table.problem.form == Form::levels) check.nearest();
  measured.residual = check.residual();
  measured.rounding = check.residual_rounding();
  return measured;
}

}  // namespace fewbit::solver
