// Several descents (smoothed_descent.hpp), the best result counts: every start as it is, stretched
// about the mean of the inputs, shifted, and with its shortest repeated intervals taken away one by
// one; then the same from the patterns that the levels found suggest (every x the nearest level).
// Deterministic: a fixed list in a fixed order, an earlier result wins a tie. Invariant: the result
// is never above any start with fitted levels.
#include "search/smoothed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "expression/evenness.hpp"
#include "search/smoothed_descent.hpp"
#include "search/smoothed_nearest.hpp"
#include "search/smoothed_pattern.hpp"
#include "search/smoothed_starts.hpp"

namespace fewbit::solver {
namespace {

constexpr int kSuggestions = 3;
constexpr double kRounding = 1e-10;  // in standard deviations of the inputs
constexpr double kTie = 1e-9;
constexpr double kNear = 0.5;     // in standard deviations of the inputs
constexpr double kSlight = 0.01;  // in standard deviations of the inputs
constexpr double kSame = 1e-9;    // in standard deviations of the inputs
constexpr double kSettled = 1e-10;
constexpr double kQuickly = 1e-4;  // gain of a step that is worth another one

StepFunction canonical(StepFunction step) {
  make_canonical(step);
  return step;
}

void check(double lambda, const std::vector<SmoothingNode>& nodes,
           const std::vector<StepFunction>& starts, int max_levels) {
  if (!(lambda >= 0.0) || !std::isfinite(lambda)) {
    throw Error(fmt::format("lambda is {}, accepted are numbers from 0", shortest(lambda)), {},
                "objective");
  }
  if (nodes.empty() || starts.empty()) {
    throw Error(fmt::format("the smoothed search has {} nodes and {} starts, it needs one of each",
                            nodes.size(), starts.size()));
  }
  for (const StepFunction& start : starts) {
    if (!is_sound(start) || !is_sound(canonical(start)) ||
        start.levels.size() > static_cast<size_t>(max_levels)) {
      throw Error(fmt::format(
          "a start of the smoothed search has {} thresholds, {} codes and {} "
          "levels, accepted are ascending thresholds and 2 to {} levels",
          start.thresholds.size(), start.codes.size(), start.levels.size(), max_levels));
    }
  }
}

class Search {
 public:
  /// `even`: f' is, wherever it counts.
  Search(const SmoothedObjective& objective, const InputSpread& inputs, bool even, bool quick)
      : objective_(objective), inputs_(inputs), even_(even), quick_(quick) {}

  void run(StepFunction start) {
    make_canonical(start);
    if (start.thresholds.empty() || has_run(start)) return;
    seen_.push_back(start);
    const bool even = is_even_problem() && is_even(start, kSame * inputs_.deviation);
    if (even) make_even(start);
    if (quick_) return keep(descend_from(start, even));
    for (const StepFunction& variant : start_variants(start, even, inputs_))
      keep(descend_from(variant, even));
    while (simplify(start, inputs_)) keep(descend_from(start, even));
  }

  /// Follows the patterns that the best levels so far suggest, as long as that helps.
  void follow_suggestions() {
    for (int round = 0; round < kSuggestions; ++round) {
      StepFunction levels = best_;
      make_canonical(levels);
      const double before = value_;
      run(nearest_levels(objective_.moments().derivative(), levels.levels));
      if (!(value_ < before)) return;
    }
  }

  /// Takes away what serves nothing: narrow or outer intervals that can go at no cost.
  void prune() {
    for (size_t i = 0; i < best_.codes.size();) {
      StepFunction without = best_;
      if (is_slight(i) && take_away(without, i) && gain_from(without)) {
        i = 0;
      } else {
        ++i;
      }
    }
  }

  /// The result in its last form.
  SmoothedResult finish() {
    const bool even = is_even_problem() && is_even(best_);
    const double left =
        quick_ ? settle(objective_, best_, even, 0) : settle(objective_, best_, even);
    // Where symmetry puts a threshold at 0, let it be 0.
    for (double& s : best_.thresholds) {
      if (std::abs(s) < kRounding * inputs_.deviation) s = 0.0;
    }
    objective_.fit_levels(best_);
    make_canonical(best_);
    return {best_, left < kSettled ? 0.0 : left};
  }

 private:
  struct Result {
    StepFunction step;
    double value;
  };

  bool is_even_problem() const {
    const Derivative& inside = objective_.moments().derivative();
    return even_ && inside.lo() == -inside.hi() && objective_.moments().weight().is_even() &&
           std::abs(inputs_.mean) < kSame * inputs_.deviation;
  }

  // The forms `levels` and `intervals` often have the same optimum.
  bool has_run(const StepFunction& start) const {
    return std::any_of(seen_.begin(), seen_.end(), [&](const StepFunction& other) {
      if (start.codes != other.codes) return false;
      for (size_t i = 0; i < start.thresholds.size(); ++i) {
        const double apart = std::abs(start.thresholds[i] - other.thresholds[i]);
        if (apart > kSame * inputs_.deviation) return false;
      }
      return true;
    });
  }

  bool is_slight(size_t interval) const {
    const std::vector<double>& s = best_.thresholds;
    return interval == 0 || interval == s.size() ||
           s[interval] - s[interval - 1] < kSlight * inputs_.deviation;
  }

  // `step` with fitted levels becomes the best if that costs nothing.
  bool gain_from(StepFunction& step) {
    const double value = objective_.fit_levels(step);
    if (value > value_ * (1.0 + kTie)) return false;
    value_ = std::min(value, value_);
    best_ = std::move(step);
    return true;
  }

  Result descend_from(const StepFunction& start, bool even) const {
    Result result{start, 0.0};
    result.value = descend(objective_, result.step, {.even = even, .creeping = creeping()});
    if (objective_.jumps().empty()) return result;
    // A minimum may be a corner, which free steps come near to only.
    Result corner{snapped(result.step), 0.0};
    corner.value = descend(objective_, corner.step,
                           {.even = even, .hold_jumps = true, .creeping = creeping()});
    return corner.value < result.value ? corner : result;
  }

  double creeping() const { return quick_ ? kQuickly : DescentRules{}.creeping; }

  // The threshold nearest to each jump of f' moved there, unless all are far.
  StepFunction snapped(StepFunction step) const {
    for (const double jump : objective_.jumps()) {
      const auto nearest = std::min_element(
          step.thresholds.begin(), step.thresholds.end(),
          [&](double a, double b) { return std::abs(a - jump) < std::abs(b - jump); });
      if (std::abs(*nearest - jump) > kNear * inputs_.deviation) continue;
      const double before = std::exchange(*nearest, jump);
      if (!is_sound(step)) *nearest = before;
    }
    return step;
  }

  void keep(Result result) {
    if (!(result.value < value_ * (1.0 - kTie))) return;
    value_ = result.value;
    best_ = std::move(result.step);
  }

  const SmoothedObjective& objective_;
  InputSpread inputs_;
  bool even_;
  bool quick_;
  std::vector<StepFunction> seen_;
  StepFunction best_;
  double value_ = std::numeric_limits<double>::infinity();
};

// Nothing to gain: f' is this step function, to rounding.
bool is_exact(const SmoothedObjective& objective, const StepFunction& step, double lambda) {
  const Moments all = objective.moments().total().shifted(objective.moments().center());
  return objective.value(step) <= (1e-28 / all.mass + 1e-15 * lambda) * all.second;
}

}  // namespace

SmoothedResult minimise_smoothed(const Expression& f, const Weight& weight, Domain domain,
                                 double lambda, const std::vector<SmoothingNode>& nodes,
                                 const std::vector<StepFunction>& starts, int max_levels,
                                 bool quick) {
  check(lambda, nodes, starts, max_levels);
  const SmoothedDerivative target(f, nodes);
  const Domain support = weight.support();
  const Derivative derivative(f, std::max(domain.lo, support.lo), std::min(domain.hi, support.hi));
  const PrefixIntegral moments(derivative, weight);
  const SmoothedObjective objective(target, moments, lambda);
  for (const StepFunction& start : starts) {
    if (is_exact(objective, start, lambda)) return {canonical(start), 0.0};
  }
  const Derivative& far = target.derivative();
  const double end = std::max({-far.lo(), far.hi(), -derivative.lo(), derivative.hi()});
  Search search(objective, input_spread(nodes), is_even(f, end), quick);
  for (const StepFunction& start : starts) search.run(start);
  search.follow_suggestions();
  search.prune();
  return search.finish();
}

}  // namespace fewbit::solver
