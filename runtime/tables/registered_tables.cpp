#include "tables/registered_tables.hpp"

#include <map>
#include <mutex>

#include <c10/util/Exception.h>

#include "base/error.hpp"
#include "kernels/floating_point_mode.hpp"
#include "table/json.hpp"

namespace fewbit {

namespace {

struct RegisteredTables {
  std::mutex mutex;
  std::map<std::string, solver::Table> tables;
};

RegisteredTables& registered_tables() {
  static RegisteredTables all;
  return all;
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
    TORCH_CHECK(false, "fewbit::register_activation: ", name, ": ", error.what());
  }
}

}  // namespace

void register_table(const std::string& name, const std::string& table_json) {
  const solver::Table table = table_for(name, table_json);
  RegisteredTables& all = registered_tables();
  const std::lock_guard lock(all.mutex);
  const auto [known, is_new] = all.tables.emplace(name, table);
  TORCH_CHECK(is_new || known->second == table, "fewbit::register_activation: ", name,
              " is registered with another table");
}

const solver::Table* find_registered(const std::string& function) {
  RegisteredTables& all = registered_tables();
  const std::lock_guard lock(all.mutex);
  const auto found = all.tables.find(function);
  return found == all.tables.end() ? nullptr : &found->second;
}

}  // namespace fewbit
