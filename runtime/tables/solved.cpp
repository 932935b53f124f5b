#include "tables/solved.hpp"

#include <cmath>

#include <c10/util/Exception.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "functions/registry.hpp"
#include "table/json.hpp"
#include "table/rounding.hpp"
#include "tables/registered_tables.hpp"

namespace fewbit {

namespace {

/// Runs what may throw the solver's Error, and throws torch's instead.
template <class Action>
auto with_torch_errors(const Action& action) {
  const SolverArithmetic arithmetic;
  try {
    return action();
  } catch (const Error& error) {
    TORCH_CHECK(false, "fewbit::Table: ", error.what());
  }
}

}  // namespace

solver::Table search_now(const solver::Problem& problem, const solver::SearchOptions& options) {
  const SolverArithmetic arithmetic;
  return solver::search_table(problem, options);
}

Table table_of(const solver::Table& solved) {
  const SolverArithmetic arithmetic;
  const solver::Table rounded = solver::round_thresholds(solved, solver::DataType::fp32);
  TableData data;
  data.function = rounded.problem.function.name;
  for (const auto& [name, value] : rounded.problem.function.parameters) {
    data.parameters.push_back(value);
  }
  data.name = solver::table_stem(solved);
  data.even = rounded.symmetry == solver::Symmetry::even;
  data.error = rounded.error;
  data.json = solver::to_json(solved);
  for (const double threshold : rounded.thresholds) {
    data.thresholds.push_back(static_cast<float>(threshold));
  }
  for (const int code : rounded.codes) data.interval_codes.push_back(static_cast<uint8_t>(code));
  for (const double level : rounded.levels) data.levels.push_back(static_cast<float>(level));
  return Table(std::move(data));
}

solver::FunctionSpec function_spec(const std::string& function,
                                   const std::vector<double>& parameters) {
  if (const solver::Table* added = find_registered(function)) {
    TORCH_CHECK(parameters.empty(), "fewbit: ", function, " takes no parameters, not ",
                parameters.size());
    return added->problem.function;
  }
  return with_torch_errors([&] {
    const solver::FunctionInfo& info = solver::find_function(function);
    std::string text = info.name;
    TORCH_CHECK(parameters.empty() || parameters.size() == info.parameters.size(),
                "fewbit: ", function, " takes ", info.parameters.size(), " parameters, not ",
                parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      text += (i == 0 ? ":" : ",") + info.parameters[i].name + "=" + shortest(parameters[i]);
    }
    return solver::parse_function(text);
  });
}

Table Table::from_json(const std::string& text) {
  return with_torch_errors([&] { return table_of(solver::from_json(text)); });
}

Table Table::load(const std::string& path) {
  return with_torch_errors([&] { return table_of(solver::read_table(path)); });
}

void Table::save(const std::string& path) const {
  TORCH_CHECK(!data().json.empty(), "fewbit::Table::save: ", function(), " ", name(),
              " comes with the library; Table::builtin(\"", function(), "\", \"", name(),
              "\") gives it back");
  with_torch_errors([&] { write_text_file(path, data().json); });
}

}  // namespace fewbit
