#include "search/search_table.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "functions/registry.hpp"
#include "search/assemble.hpp"
#include "search/discrete.hpp"
#include "search/setting.hpp"
#include "search/smoothed.hpp"
#include "search/snap.hpp"
#include "search/squared.hpp"
#include "table/rounding.hpp"
#include "weights/discrete.hpp"

#ifndef FEWBIT_VERSION
#error "the build sets FEWBIT_VERSION"
#endif

namespace fewbit::solver {

namespace {

constexpr double kDefaultTau = 0.83;
// Fine enough for a threshold in the tail of all inputs, which only few of the units see.
constexpr double kFineTail = 48.0;

Setting setting_of(const Table& table) {
  const Problem& problem = table.problem;
  return {problem.function, problem.weight, problem.domain, table.symmetry == Symmetry::even};
}

Domain finite_domain_of(const Problem& problem) {
  if (problem.weight.is_discrete()) return discrete_weight(problem.weight, problem.domain).domain;
  return effective_domain(problem.domain, *make_weight(problem.weight));
}

/// f for integrals over the whole axis where it does not exist beyond the domain (log on [1, 10]):
/// it goes on as a straight line there.
Expression extended_expression(const Problem& problem) {
  const Expression f = expression_of(problem.function);
  const Domain domain = finite_domain_of(problem);
  const Derivative inside(f, domain.lo, domain.hi);
  const std::string text = "where(x < " + shortest(domain.lo) + ", x*" +
                           shortest(inside.value(domain.lo)) + ", where(x > " +
                           shortest(domain.hi) + ", x*" + shortest(inside.value(domain.hi)) + ", " +
                           f.text() + "))";
  return Expression::parse(text, f.parameters());
}

StepFunction squared_optimum(const Problem& problem, Form form, const SearchOptions& options) {
  Table table;
  table.problem = problem;
  table.problem.form = form;
  solve_squared(table, options);
  return step_function_of(table);
}

/// Takes over a step function in x; thresholds in exact pairs around 0 are kept on |x|.
void set_step(Table& table, const StepFunction& exact) {
  const StepLayout raw{exact.thresholds, exact.codes, exact.levels};
  const StepLayout step = snap_to_decimals(raw, false, false).value_or(raw);
  const size_t count = step.thresholds.size();
  bool even = table.symmetry == Symmetry::even && count % 2 == 0;
  for (size_t i = 0; even && i < count; ++i) {
    even = step.thresholds[i] == -step.thresholds[count - 1 - i] &&
           step.codes[i] == step.codes[count - i];
  }
  const auto half = static_cast<std::ptrdiff_t>(even ? count / 2 : 0);
  table.symmetry = even ? Symmetry::even : Symmetry::none;
  table.thresholds.assign(step.thresholds.begin() + half, step.thresholds.end());
  table.codes.assign(step.codes.begin() + half, step.codes.end());
  table.levels = step.levels;
}

/// `table` holds the squared optimum, whose lower bound stays.
void smooth(Table& table, const SearchOptions& options) {
  const Problem& problem = table.problem;
  const auto nodes = smoothing_nodes(problem.weight, problem.objective.tau, false, kFineTail);
  const auto weight = make_weight(problem.weight);
  const std::vector<StepFunction> starts{step_function_of(table),
                                         squared_optimum(problem, Form::intervals, options)};
  const SmoothedResult result = minimise_smoothed(
      expression_of(problem.function), *weight, effective_domain(problem.domain, *weight),
      problem.objective.lambda, nodes, starts, problem.levels, options.quick);
  set_step(table, result.step);
  table.error = table_error(table);
  table.residual = result.residual;
}

void check_problem(const Problem& problem) {
  if (problem.levels < 2 || problem.levels > 256) {
    throw Error("levels: " + std::to_string(problem.levels) + " is not from 2 to 256");
  }
  if (problem.objective.smoothed && problem.form != Form::levels) {
    throw Error(std::string("objective: smoothed goes with form levels, not ") +
                to_string(problem.form));
  }
  if (problem.objective.smoothed && problem.weight.is_discrete()) {
    throw Error("objective: smoothed needs a density of the inputs, not single values");
  }
}

}  // namespace

double table_error(const Table& table) {
  if (table.problem.weight.is_discrete()) return discrete_error(table);
  const Setting setting = setting_of(table);
  if (table.problem.form == Form::unbiased) return rounding_error_above(setting, table.levels);
  return layout_error_above(setting, {table.thresholds, table.codes, table.levels});
}

double weight_mass(const Problem& problem) {
  if (problem.weight.is_discrete()) return discrete_weight(problem.weight, problem.domain).mass();
  const Setting setting(problem.function, problem.weight, problem.domain, false);
  return setting.integral().total().mass;
}

double smoothed_bias(const Table& table) {
  const Objective& objective = table.problem.objective;
  const double tau = objective.smoothed ? objective.tau : kDefaultTau;
  const auto nodes = smoothing_nodes(table.problem.weight, tau, true);
  try {
    return rms_smoothed_bias(table, expression_of(table.problem.function), nodes);
  } catch (const Error&) {
    return rms_smoothed_bias(table, extended_expression(table.problem), nodes);
  }
}

Table search_table(const Problem& problem, const SearchOptions& options, const StageCall& begins) {
  const auto begin = [&](Stage stage) {
    if (begins) begins(stage);
  };
  check_problem(problem);
  begin(Stage::search);
  Table table;
  table.problem = problem;
  table.solver = "fewbit " FEWBIT_VERSION;
  const bool discrete = problem.weight.is_discrete();
  if (discrete) {
    solve_discrete(table);
  } else {
    solve_squared(table, options);
  }
  if (problem.objective.smoothed && table.error > 0.0) {
    begin(Stage::smoothing);
    smooth(table, options);
  }
  if (problem.dtype != DataType::exact && problem.form != Form::unbiased) {
    table = round_thresholds(table, problem.dtype);
    table.error = table_error(table);
    if (discrete) table.residual = discrete_residual(table);
  }
  table.lower_bound = std::min(table.lower_bound, table.error);
  table.relative_gap = table.error > 0.0 ? (table.error - table.lower_bound) / table.error : 0.0;
  begin(Stage::bias);
  table.smoothed_bias = smoothed_bias(table);
  return table;
}

}  // namespace fewbit::solver
