#include "tables/builtin.hpp"

#include <algorithm>
#include <sstream>

#include <c10/util/Exception.h>

#include "fewbit/table.hpp"
#include "functions.hpp"
#include "functions/registry.hpp"

namespace fewbit {

namespace {

constexpr BuiltinTable kTables[] = {
#define FEWBIT_TABLE(function, name) {#function, &generated::function::tables::name},
#include "registry.inc"
};

std::string names_for(std::string_view function) {
  std::ostringstream names;
  for (const BuiltinTable& entry : kTables) {
    if (entry.function == function) names << ' ' << entry.table->name;
  }
  return names.str();
}

TableData data_of(std::string_view function, const generated::StepTable& table) {
  TableData data;
  data.function = function;
  data.name = table.name;
  data.even = table.even;
  data.error = table.error;
  // The table's own are floats.
  for (const solver::ParameterInfo& parameter : solver::find_function(function).parameters) {
    data.parameters.push_back(parameter.initial);
  }
  data.levels.assign(table.levels, table.levels + table.level_count);
  if (table.codes == nullptr) return data;
  data.thresholds.assign(table.thresholds, table.thresholds + table.threshold_count);
  data.interval_codes.assign(table.codes, table.codes + table.threshold_count + 1);
  return data;
}

}  // namespace

std::span<const BuiltinTable> builtin_tables() {
  return kTables;
}

const generated::StepTable* find_builtin(std::string_view function, std::string_view name) {
  const auto found = std::find_if(std::begin(kTables), std::end(kTables), [&](const auto& entry) {
    return entry.function == function && entry.table->name == name;
  });
  return found == std::end(kTables) ? nullptr : found->table;
}

Table Table::builtin(const std::string& function, const std::string& name) {
  const generated::StepTable* table = find_builtin(function, name);
  const std::string accepted = names_for(function);
  TORCH_CHECK(!accepted.empty(), "fewbit::Table: unknown function '", function, "'");
  TORCH_CHECK(table != nullptr, "fewbit::Table: ", function, " has no built-in table '", name,
              "', accepted:", accepted);
  return Table(data_of(function, *table));
}

}  // namespace fewbit
