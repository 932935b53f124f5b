#include "search/squared.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "search/assemble.hpp"
#include "search/branch_and_bound.hpp"
#include "search/newton.hpp"
#include "search/segment_cost.hpp"
#include "search/setting.hpp"
#include "search/snap.hpp"
#include "search/value_axis.hpp"
#include "search/x_axis.hpp"

namespace fewbit::solver {

namespace {

/// Rounding to decimals may cost this factor of the error and no more.
constexpr double kSnapTolerance = 1.0 + 1e-13;

/// How near f' has to come to the middle of its levels where time counts, in units of its range.
constexpr double kQuickly = 1e-6;

struct Answer {
  StepLayout layout;
  double error;
  double lower_bound;
  double residual;
};

BoundOptions bound_options(int levels, const SearchOptions& options) {
  BoundOptions bound;
  const auto parts = static_cast<size_t>(levels);
  bound.first_cells =
      options.quick ? std::max<size_t>(192, parts * 4) : std::max<size_t>(768, parts * 16);
  bound.target_gap = options.quick ? 1.0 : options.target_gap;
  bound.work_limit = options.patience * kUsualWork;
  return bound;
}

/// An error that rounding alone may make up says nothing: where f' grows faster than the mass
/// falls off, doubles lose the mass before its share of the error.
void check_certain(const Setting& setting, double error, double above) {
  constexpr double kNothing = 1e-18;  // of the variance: as good as exact
  if (above <= 10.0 * error + kNothing * setting.integral().total().second) return;
  const Derivative& derivative = setting.derivative();
  throw Error("the error cannot be told from rounding: it is " + shortest(error) + " to " +
                  shortest(above) + ", since f' reaches from " + shortest(derivative.min_value()) +
                  " to " + shortest(derivative.max_value()) + " between " +
                  shortest(derivative.lo()) + " and " + shortest(derivative.hi()) +
                  ", mostly where hardly any mass is; a narrower domain helps",
              {}, "domain");
}

/// Leaves cuts out while that adds less to the error than is uncertain of it, as where f' takes but
/// few values: they would stand anywhere.
template <class LayoutOf>
StepLayout needed_layout(const Setting& setting, std::vector<double> cuts,
                         const LayoutOf& layout_of) {
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  StepLayout layout = layout_of(setting, cuts);
  double error = layout_error(setting, layout);
  const double accepted = layout_error_above(setting, layout);
  check_certain(setting, error, accepted);
  for (size_t i = 0; error < 0.5 * accepted && cuts.size() > 1 && i < cuts.size();) {
    std::vector<double> fewer = cuts;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    StepLayout without = layout_of(setting, fewer);
    const double next = layout_error(setting, without);
    if (next > accepted || without.levels.size() < 2) {
      ++i;
      continue;
    }
    cuts = std::move(fewer);
    layout = std::move(without);
    error = next;
  }
  return layout;
}

Answer answer_of(const Setting& setting, StepLayout layout, double lower_bound) {
  double error = layout_error(setting, layout);
  if (const auto snapped =
          snap_to_decimals(layout, false, setting.folded(), setting.derivative().borders())) {
    const double snapped_error = layout_error(setting, *snapped);
    if (snapped_error <= error * kSnapTolerance) {
      layout = *snapped;
      error = snapped_error;
    }
  }
  const double residual = layout_residual(setting, layout);
  const double above = layout_error_above(setting, layout);
  const double below = setting.integral().uncertainty().below(std::min(lower_bound, error));
  return {std::move(layout), above, below, residual};
}

Answer answer_of_levels(const Setting& setting, StepLayout layout, double lower_bound) {
  double error = rounding_error(setting, layout.levels);
  if (const auto snapped = snap_to_decimals(layout, true, false)) {
    const double snapped_error = rounding_error(setting, snapped->levels);
    if (snapped_error <= error * kSnapTolerance) {
      layout = *snapped;
      error = snapped_error;
    }
  }
  const double residual = rounding_residual(setting, layout.levels);
  const double above = rounding_error_above(setting, layout.levels);
  check_certain(setting, error, above);
  const double below = rounding_error_below(setting, std::min(lower_bound, error));
  return {std::move(layout), above, below, residual};
}

/// The values of a step function, if there are no more than `most`: they are its table, whatever
/// mass is under them.
std::vector<double> few_values(const Setting& setting, int most) {
  if (!setting.derivative().is_step_function()) return {};
  std::vector<double> values;
  for (const Branch& branch : setting.derivative().branches()) values.push_back(branch.value_lo);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() > static_cast<size_t>(most)) values.clear();
  return values;
}

/// The table that a step function is, if that is one of few enough intervals or values.
std::optional<Answer> exact_answer(const Setting& setting, Form form, int levels) {
  std::vector<double> values = few_values(setting, levels);
  if (values.empty()) return std::nullopt;
  if (form == Form::unbiased) return Answer{{{}, {}, std::move(values)}, 0.0, 0.0, 0.0};
  values.pop_back();
  StepLayout layout = layout_of_values(setting, values);
  const bool fits = form == Form::levels || layout.codes.size() <= static_cast<size_t>(levels);
  if (!fits || layout_error_above(setting, layout) > 0.0) return std::nullopt;
  return Answer{std::move(layout), 0.0, 0.0, 0.0};
}

Answer solve_intervals(const Setting& setting, int levels, const SearchOptions& options) {
  if (auto exact = exact_answer(setting, Form::intervals, levels)) return *std::move(exact);
  const XAxis axis(setting.integral());
  const double enough = options.quick ? kQuickly * setting.range() : 0.0;
  const Polish polish = [&axis, enough](const std::vector<double>& cuts) {
    return polish_means(axis, cuts, enough);
  };
  BoundResult result = minimise_segments<VarianceCost>(axis, static_cast<size_t>(levels), polish,
                                                       bound_options(levels, options));
  std::erase_if(result.cuts, [&](double x) { return !(x > axis.lo() && x < axis.hi()); });
  return answer_of(setting, needed_layout(setting, result.cuts, layout_of_intervals),
                   result.lower_bound);
}

Answer solve_levels(const Setting& setting, int levels, const SearchOptions& options) {
  if (auto exact = exact_answer(setting, Form::levels, levels)) return *std::move(exact);
  const ValueAxis axis(setting.integral());
  const double enough = options.quick ? kQuickly * setting.range() : 0.0;
  const Polish polish = [&axis, enough](const std::vector<double>& cuts) {
    return polish_means(axis, cuts, enough);
  };
  const BoundResult result = minimise_segments<VarianceCost>(
      axis, static_cast<size_t>(levels), polish, bound_options(levels, options));
  return answer_of(setting, needed_layout(setting, result.cuts, layout_of_values),
                   result.lower_bound);
}

Answer solve_unbiased(const Setting& setting, int levels, const SearchOptions& options) {
  if (auto exact = exact_answer(setting, Form::unbiased, levels)) return *std::move(exact);
  const ValueAxis axis(setting.integral());
  const Polish polish = [&axis](const std::vector<double>& cuts) {
    return polish_rounding(axis, cuts);
  };
  const BoundResult result = minimise_segments<RoundingCost>(
      axis, static_cast<size_t>(levels) - 1, polish, bound_options(levels, options));
  StepLayout layout;
  layout.levels.push_back(axis.lo());
  for (const double cut : result.cuts) {
    if (cut > layout.levels.back() && cut < axis.hi()) layout.levels.push_back(cut);
  }
  layout.levels.push_back(axis.hi());
  return answer_of_levels(setting, std::move(layout), result.lower_bound);
}

void fill(Table& table, Answer answer, bool folded) {
  table.symmetry = folded && table.problem.form != Form::unbiased ? Symmetry::even : Symmetry::none;
  table.thresholds = std::move(answer.layout.thresholds);
  table.codes = std::move(answer.layout.codes);
  table.levels = std::move(answer.layout.levels);
  table.error = answer.error;
  table.lower_bound = answer.lower_bound;
  table.residual = answer.residual;
}

/// Thresholds on |x| are worth it for `intervals` only where the weight does not favour one side.
void solve_even_intervals(Table& table, const SearchOptions& options) {
  const Problem& problem = table.problem;
  const Setting folded(problem.function, problem.weight, problem.domain, true);
  Answer even = solve_intervals(folded, problem.levels, options);
  const Domain& domain = problem.domain;
  const bool symmetric = make_weight(problem.weight)->is_even() && domain.lo == -domain.hi;
  if (symmetric) {
    fill(table, std::move(even), true);
    return;
  }
  const Setting plain(problem.function, problem.weight, problem.domain, false);
  Answer any = solve_intervals(plain, problem.levels, options);
  const double lower_bound = std::min(even.lower_bound, any.lower_bound);
  const bool use_even = even.error <= any.error;
  fill(table, use_even ? std::move(even) : std::move(any), use_even);
  table.lower_bound = lower_bound;
}

}  // namespace

void solve_squared(Table& table, const SearchOptions& options) {
  const Problem& problem = table.problem;
  const bool even = Setting::can_fold(problem.function, problem.weight, problem.domain);
  if (problem.form == Form::intervals && even) {
    solve_even_intervals(table, options);
    return;
  }
  const bool folded = even && problem.form != Form::unbiased;
  const Setting setting(problem.function, problem.weight, problem.domain, folded);
  switch (problem.form) {
    case Form::intervals:
      fill(table, solve_intervals(setting, problem.levels, options), folded);
      break;
    case Form::levels:
      fill(table, solve_levels(setting, problem.levels, options), folded);
      break;
    case Form::unbiased:
      fill(table, solve_unbiased(setting, problem.levels, options), folded);
      break;
  }
}

}  // namespace fewbit::solver
