#include "search/smoothed_starts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "search/smoothed_pattern.hpp"

namespace fewbit::solver {
namespace {

// Above this many thresholds one descent takes too long for more than one per start.
constexpr size_t kManyThresholds = 48;
constexpr double kStretches[] = {0.5, 0.75, 1.3, 1.8};
constexpr double kShifts[] = {-0.6, -0.2, 0.2, 0.6};  // in standard deviations of the inputs
constexpr double kOuter = 3.0;                        // how far inputs reach, in the same unit

bool is_spare(const StepFunction& step, size_t interval, bool even) {
  const size_t mirror = even ? step.thresholds.size() - interval : interval;
  for (size_t i = 0; i < step.codes.size(); ++i) {
    if (i != interval && i != mirror && step.codes[i] == step.codes[interval]) return true;
  }
  return false;
}

}  // namespace

InputSpread input_spread(const std::vector<SmoothingNode>& nodes) {
  InputSpread result;
  for (const SmoothingNode& node : nodes) result.mean += node.mass * node.mean;
  double square = 0.0;
  for (const SmoothingNode& node : nodes) {
    const double off = node.mean - result.mean;
    square += node.mass * (off * off + node.spread * node.spread);
  }
  result.deviation = std::sqrt(square);
  return result;
}

bool is_sound(const StepFunction& step) {
  if (step.thresholds.empty() || step.codes.size() != step.thresholds.size() + 1) return false;
  for (size_t i = 0; i < step.thresholds.size(); ++i) {
    if (!std::isfinite(step.thresholds[i])) return false;
    if (i > 0 && !(step.thresholds[i - 1] < step.thresholds[i])) return false;
  }
  return std::all_of(step.codes.begin(), step.codes.end(), [&](int code) {
    return code >= 0 && static_cast<size_t>(code) < step.levels.size();
  });
}

std::vector<StepFunction> start_variants(const StepFunction& start, bool even,
                                         const InputSpread& inputs) {
  std::vector<StepFunction> variants = {start};
  if (start.thresholds.size() > kManyThresholds) return variants;
  const double center = even ? 0.0 : inputs.mean;
  for (const double stretch : kStretches) {
    variants.push_back(start);
    for (double& s : variants.back().thresholds) s = center + stretch * (s - center);
  }
  if (even) return variants;
  for (const double shift : kShifts) {
    variants.push_back(start);
    for (double& s : variants.back().thresholds) s += shift * inputs.deviation;
  }
  return variants;
}

bool take_away(StepFunction& step, size_t interval) {
  if (is_even(step)) {
    if (step.thresholds.size() < 4) return false;
    remove_even_interval(step, interval);
  } else {
    remove_interval(step, interval);
  }
  return !step.thresholds.empty();
}

bool simplify(StepFunction& step, const InputSpread& inputs) {
  const size_t last = step.thresholds.size();
  if (last < 2 || last > kManyThresholds) return false;
  const bool even = is_even(step);
  std::optional<size_t> found;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i <= last; ++i) {
    const double lo = i == 0 ? inputs.mean - kOuter * inputs.deviation : step.thresholds[i - 1];
    const double hi = i == last ? inputs.mean + kOuter * inputs.deviation : step.thresholds[i];
    if (hi - lo >= least || !is_spare(step, i, even)) continue;
    least = hi - lo;
    found = i;
  }
  return found && take_away(step, *found);
}

}  // namespace fewbit::solver
