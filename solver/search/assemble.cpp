#include "search/assemble.hpp"

#include <algorithm>
#include <cmath>

#include "search/newton.hpp"
#include "search/value_axis.hpp"
#include "search/x_axis.hpp"

namespace fewbit::solver {

namespace {

/// Sums of one level over its intervals; the moments are those of f' less `center`.
struct Pool {
  double center = 0.0;
  Moments moments;
  double smallest = INFINITY;
  double largest = -INFINITY;

  /// The weighted mean; the clamp makes the mean of a constant exact.
  double mean() const {
    const double value =
        moments.mass > 0.0 ? center + moments.first / moments.mass : 0.5 * (smallest + largest);
    return std::clamp(value, smallest, largest);
  }
};

struct Segment {
  double lo;
  double hi;
  int code;
};

std::vector<Segment> segments_of(const Setting& setting, const StepLayout& layout) {
  const Derivative& derivative = setting.derivative();
  std::vector<Segment> segments;
  for (size_t i = 0; i < layout.codes.size(); ++i) {
    const double lo = i == 0 ? -INFINITY : layout.thresholds[i - 1];
    const double hi = i == layout.thresholds.size() ? INFINITY : layout.thresholds[i];
    const double a = std::clamp(lo, derivative.lo(), derivative.hi());
    const double b = std::clamp(hi, derivative.lo(), derivative.hi());
    if (a < b) segments.push_back({a, b, layout.codes[i]});
  }
  return segments;
}

void add_range(const Derivative& derivative, const Segment& segment, Pool& pool) {
  for (const Branch& branch : derivative.branches()) {
    if (branch.hi <= segment.lo || branch.lo >= segment.hi) continue;
    const double a = std::max(branch.lo, segment.lo);
    const double b = std::min(branch.hi, segment.hi);
    for (const double v : {derivative.value(a, branch.piece), derivative.value(b, branch.piece)}) {
      pool.smallest = std::min(pool.smallest, v);
      pool.largest = std::max(pool.largest, v);
    }
  }
}

std::vector<Pool> pools_of(const Setting& setting, const StepLayout& layout, size_t count) {
  std::vector<Pool> pools(count);
  const PrefixIntegral& integral = setting.integral();
  const std::vector<Segment> segments = segments_of(setting, layout);
  for (Pool& pool : pools) pool.center = integral.center();
  for (const Segment& segment : segments) {
    Pool& pool = pools[static_cast<size_t>(segment.code)];
    pool.moments += integral.at(segment.hi) - integral.at(segment.lo);
    add_range(setting.derivative(), segment, pool);
  }
  // Differences of prefixes know nothing of a mass far in a tail.
  constexpr double kLeastShare = 1e-10;
  const double least = kLeastShare * integral.total().mass;
  std::vector<Moments> sums(count);
  for (const Segment& segment : segments) {
    const auto code = static_cast<size_t>(segment.code);
    if (pools[code].moments.mass > least) continue;
    sums[code] += integral.between(segment.lo, segment.hi);
  }
  for (size_t code = 0; code < count; ++code) {
    if (!(pools[code].moments.mass > least)) pools[code].moments = sums[code];
  }
  return pools;
}

/// Follows f' from left to right and notes where it passes a cut.
class Walk {
 public:
  Walk(const Derivative& derivative, const std::vector<double>& cuts)
      : derivative_(derivative), cuts_(cuts) {
    for (const Branch& branch : derivative.branches()) follow(branch);
  }
  StepLayout take() { return std::move(layout_); }

 private:
  int code_of(double v) const {
    return static_cast<int>(std::lower_bound(cuts_.begin(), cuts_.end(), v) - cuts_.begin());
  }

  void enter(double x, int code) {
    if (layout_.codes.empty()) {
      layout_.codes.push_back(code);
    } else if (code != layout_.codes.back()) {
      if (!layout_.thresholds.empty() && x <= layout_.thresholds.back()) {
        layout_.codes.back() = code;  // the interval before has no length
        return;
      }
      layout_.thresholds.push_back(x);
      layout_.codes.push_back(code);
    }
  }

  void follow(const Branch& branch) {
    const int first = code_of(branch.value_lo);
    const int last = code_of(branch.value_hi);
    enter(branch.lo, first);
    for (int code = first; code < last; ++code) {
      enter(derivative_.solve(branch, cuts_[static_cast<size_t>(code)]), code + 1);
    }
    for (int code = first; code > last; --code) {
      enter(derivative_.solve(branch, cuts_[static_cast<size_t>(code) - 1]), code - 1);
    }
  }

  const Derivative& derivative_;
  const std::vector<double>& cuts_;
  StepLayout layout_;
};

double rounding_noise(const Setting& setting) {
  const PrefixIntegral& integral = setting.integral();
  return integral.uncertainty().noise * std::sqrt(integral.total().mass) * setting.range();
}

StepLayout with_means(const Setting& setting, StepLayout layout, size_t count) {
  layout.levels.clear();
  for (const Pool& pool : pools_of(setting, layout, count)) {
    // A level without any x keeps no code, so its value does not matter.
    layout.levels.push_back(pool.largest < pool.smallest ? 0.0 : pool.mean());
  }
  return normalised(layout);
}

}  // namespace

StepLayout normalised(const StepLayout& raw) {
  std::vector<double> used;
  for (const int code : raw.codes) used.push_back(raw.levels[static_cast<size_t>(code)]);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  StepLayout layout;
  layout.levels = used;
  for (size_t i = 0; i < raw.codes.size(); ++i) {
    const double level = raw.levels[static_cast<size_t>(raw.codes[i])];
    const auto rank = std::lower_bound(used.begin(), used.end(), level) - used.begin();
    const int code = static_cast<int>(rank);
    if (i > 0 && code == layout.codes.back()) continue;
    if (i > 0) layout.thresholds.push_back(raw.thresholds[i - 1]);
    layout.codes.push_back(code);
  }
  return layout;
}

StepLayout layout_of_intervals(const Setting& setting, const std::vector<double>& cuts) {
  StepLayout layout;
  for (size_t i = 0; i <= cuts.size(); ++i) layout.codes.push_back(static_cast<int>(i));
  layout.thresholds = cuts;
  return with_means(setting, std::move(layout), cuts.size() + 1);
}

StepLayout layout_of_values(const Setting& setting, const std::vector<double>& cuts) {
  return with_means(setting, Walk(setting.derivative(), cuts).take(), cuts.size() + 1);
}

double layout_residual(const Setting& setting, const StepLayout& layout) {
  const XAxis axis(setting.integral());
  double largest = 0.0;
  for (size_t i = 0; i < layout.thresholds.size(); ++i) {
    const double x = layout.thresholds[i];
    const double middle = 0.5 * (layout.levels[static_cast<size_t>(layout.codes[i])] +
                                 layout.levels[static_cast<size_t>(layout.codes[i + 1])]);
    if (axis.jumps_across(x, middle - setting.integral().center())) continue;
    largest = std::max(largest, std::abs(setting.derivative().value(x) - middle));
  }
  const std::vector<Pool> pools = pools_of(setting, layout, layout.levels.size());
  for (size_t j = 0; j < pools.size(); ++j) {
    if (pools[j].largest < pools[j].smallest) continue;
    largest = std::max(largest, std::abs(layout.levels[j] - pools[j].mean()));
  }
  return largest / setting.range();
}

double layout_error(const Setting& setting, const StepLayout& layout) {
  double sum = 0.0;
  for (const Segment& segment : segments_of(setting, layout)) {
    sum += setting.integral().squared_error(segment.lo, segment.hi,
                                            layout.levels[static_cast<size_t>(segment.code)]);
  }
  return sum;
}

double layout_error_above(const Setting& setting, const StepLayout& layout) {
  Uncertainty uncertainty;
  for (const Segment& segment : segments_of(setting, layout)) {
    uncertainty += setting.integral().uncertainty(segment.lo, segment.hi,
                                                  layout.levels[static_cast<size_t>(segment.code)]);
  }
  return uncertainty.above(layout_error(setting, layout));
}

double rounding_error(const Setting& setting, const std::vector<double>& levels) {
  const std::vector<double> inner(levels.begin() + 1, levels.end() - 1);
  const StepLayout gaps = Walk(setting.derivative(), inner).take();
  double sum = 0.0;
  for (const Segment& segment : segments_of(setting, gaps)) {
    const auto gap = static_cast<size_t>(segment.code);
    sum +=
        setting.integral().rounding_variance(segment.lo, segment.hi, levels[gap], levels[gap + 1]);
  }
  return sum;
}

double rounding_error_above(const Setting& setting, const std::vector<double>& levels) {
  const double error = rounding_error(setting, levels);
  if (error == 0.0 && setting.derivative().is_step_function()) return 0.0;
  return setting.integral().coding_uncertainty().above(error) + rounding_noise(setting);
}

double rounding_error_below(const Setting& setting, double computed) {
  const Uncertainty& uncertainty = setting.integral().coding_uncertainty();
  return std::max(0.0, uncertainty.below(computed) - rounding_noise(setting));
}

double rounding_residual(const Setting& setting, const std::vector<double>& levels) {
  const ValueAxis axis(setting.integral());
  double largest = 0.0;
  for (size_t i = 1; i + 1 < levels.size(); ++i) {
    const double best = best_level_between(axis, levels[i - 1], levels[i + 1]);
    largest = std::max(largest, std::abs(best - levels[i]));
  }
  return largest / setting.range();
}

}  // namespace fewbit::solver
