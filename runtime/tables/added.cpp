#include "tables/added.hpp"

#include <map>
#include <mutex>

#include <c10/util/Exception.h>

#include "base/error.hpp"
#include "kernels/floating_point_mode.hpp"
#include "table/json.hpp"

namespace fewbit {

namespace {

struct AddedFunctions {
  std::mutex mutex;
  std::map<std::string, solver::Table> tables;
};

AddedFunctions& added_functions() {
  static AddedFunctions functions;
  return functions;
}

solver::Table table_for(const std::string& name, const std::string& text) {
  const kernels::DefaultFloatingPoint arithmetic;
  try {
    solver::Table table = solver::from_json(text);
    const solver::FunctionSpec& function = table.problem.function;
    if (function.name != name) throw Error("the table is one of '" + function.name + "'");
    if (!function.parameters.empty()) throw Error("the function has parameters");
    return table;
  } catch (const Error& error) {
    TORCH_CHECK(false, "fewbit::register_function: ", name, ": ", error.what());
  }
}

}  // namespace

void add_function(const std::string& name, const std::string& table_json) {
  const solver::Table table = table_for(name, table_json);
  AddedFunctions& functions = added_functions();
  const std::lock_guard lock(functions.mutex);
  const auto [known, is_new] = functions.tables.emplace(name, table);
  TORCH_CHECK(is_new || known->second == table, "fewbit::register_function: ", name,
              " is registered with another table");
}

const solver::Table* find_added(const std::string& function) {
  AddedFunctions& functions = added_functions();
  const std::lock_guard lock(functions.mutex);
  const auto found = functions.tables.find(function);
  return found == functions.tables.end() ? nullptr : &found->second;
}

}  // namespace fewbit
