#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include <c10/util/Exception.h>

#include "base/error.hpp"
#include "fewbit/table.hpp"
#include "tables/added.hpp"
#include "tables/builtin.hpp"
#include "tables/solved.hpp"

namespace fewbit {

namespace {

constexpr const char* kStepTable = "levels_uniform_b1";

/// The smoothed objective has few starts with many levels, and its gain is gone there.
constexpr int kMostSmoothedBits = 4;

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

bool are_defaults(const std::vector<double>& parameters, const generated::StepTable& table) {
  return parameters.empty() ||
         std::equal(parameters.begin(), parameters.end(), table.parameters,
                    table.parameters + table.parameter_count,
                    [](double given, float known) { return static_cast<float>(given) == known; });
}

Table solved_now(const solver::Problem& problem) {
  try {
    return table_of(search_now(problem));
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
  if (const solver::Table* own = find_added(function)) return choose_added(*own, bits);
  const std::string name =
      has_step_derivative(function) ? kStepTable : "smoothed_normal_b" + std::to_string(bits.count);
  const generated::StepTable* table = find_builtin(function, name);
  if (table != nullptr && are_defaults(parameters, *table)) return Table::builtin(function, name);
  return solved_now(has_step_derivative(spec.name) ? step_problem(spec)
                                                   : smooth_problem(spec, bits));
}

}  // namespace

Table Table::standard(const std::string& function, Bits bits,
                      const std::vector<double>& parameters) {
  TORCH_CHECK(bits.count >= 1 && bits.count <= 8, "fewbit: ", bits.count,
              " bits, accepted: 1 to 8");
  // Results of a pure function, remembered: functional calls ask at every step.
  static std::mutex mutex;
  static std::map<std::tuple<std::string, int, std::vector<double>>, Table> chosen;
  const std::lock_guard lock(mutex);
  const auto key = std::make_tuple(function, bits.count, parameters);
  auto found = chosen.find(key);
  if (found == chosen.end()) found = chosen.emplace(key, choose(function, bits, parameters)).first;
  return found->second;
}

}  // namespace fewbit
