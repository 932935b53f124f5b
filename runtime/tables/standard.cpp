#include <algorithm>
#include <cmath>

#include <c10/util/Exception.h>

#include "base/error.hpp"
#include "fewbit/table.hpp"
#include "functions/registry.hpp"
#include "tables/builtin.hpp"
#include "tables/registered_tables.hpp"
#include "tables/remembered.hpp"
#include "tables/solved.hpp"

namespace fewbit {

namespace {

constexpr const char* kStepTable = "levels_uniform_b1";

/// The smoothed objective has few starts with many levels, and its gain is gone there.
constexpr int kMostSmoothedBits = 4;

/// Which tables are found does not depend on it, but for how long they are proven.
constexpr double kGap = 1e-3;

bool has_step_derivative(const std::string& function) {
  const generated::StepTable* table = find_builtin(function, kStepTable);
  return table != nullptr && table->error == 0.0;
}

/// Holds all kinks: they lie at sums of parameters.
solver::Problem step_problem(const solver::FunctionSpec& function) {
  solver::Problem problem;
  problem.function = function;
  problem.levels = 2;
  double end = 10.0;
  for (const auto& [name, value] : function.parameters) end += 2.0 * std::abs(value);
  problem.domain = {-end, end};
  return problem;
}

solver::Problem smooth_problem(const solver::FunctionSpec& function, Bits bits) {
  solver::Problem problem;
  problem.function = function;
  problem.levels = 1 << bits.count;
  problem.weight = {"normal", {{"mean", 0.0}, {"sigma", 1.0}}, {}, {}, {}};
  problem.objective.smoothed = bits.count <= kMostSmoothedBits;
  return problem;
}

bool are_defaults(const solver::FunctionSpec& spec) {
  const std::vector<solver::ParameterInfo>& known = solver::find_function(spec.name).parameters;
  return std::equal(spec.parameters.begin(), spec.parameters.end(), known.begin(), known.end(),
                    [](const auto& given, const solver::ParameterInfo& info) {
                      return given.second == info.initial;
                    });
}

Table solved_now(const solver::Problem& problem) {
  try {
    return table_of(search_now(problem, {.target_gap = kGap}));
  } catch (const Error& error) {
    TORCH_CHECK(false, "fewbit::Table::standard: ", error.what());
  }
}

/// As the function's own table was solved, but for so many bits.
Table choose_added(const solver::Table& own, Bits bits) {
  if (own.bits() == bits.count || own.error == 0.0) return table_of(own);
  solver::Problem problem = own.problem;
  problem.levels = 1 << bits.count;
  problem.objective.smoothed &= bits.count <= kMostSmoothedBits;
  return solved_now(problem);
}

Table choose(const std::string& function, Bits bits, const std::vector<double>& parameters) {
  const solver::FunctionSpec spec = function_spec(function, parameters);
  if (const solver::Table* own = find_registered(function)) return choose_added(*own, bits);
  const bool is_step = has_step_derivative(spec.name);  // which is no alias
  const std::string name = is_step ? kStepTable : "smoothed_normal_b" + std::to_string(bits.count);
  const generated::StepTable* table = find_builtin(spec.name, name);
  if (table != nullptr && are_defaults(spec)) return Table::builtin(spec.name, name);
  return solved_now(is_step ? step_problem(spec) : smooth_problem(spec, bits));
}

}  // namespace

Table Table::standard(const std::string& function, Bits bits,
                      const std::vector<double>& parameters) {
  TORCH_CHECK(bits.count >= 1 && bits.count <= 8, "fewbit: ", bits.count,
              " bits, accepted: 1 to 8");
  // Results of a pure function, remembered: functional calls ask at every step, some for another
  // parameter each time.
  constexpr size_t kMost = 1024;
  static RememberedTables chosen(kMost);
  return chosen.get(TableKey(function, bits.count, parameters),
                    [&] { return choose(function, bits, parameters); });
}

}  // namespace fewbit
