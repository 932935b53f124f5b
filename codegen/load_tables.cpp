#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "codegen/generate.hpp"
#include "functions/registry.hpp"
#include "table/json.hpp"

namespace fewbit::codegen {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(folder, status)) entries.push_back(entry.path());
  if (status) throw Error("cannot read the folder: " + status.message(), folder.string());
  std::sort(entries.begin(), entries.end());
  return entries;
}

solver::Table load_table(const fs::path& path) {
  solver::Table table = solver::read_table(path.string());
  const std::string function = path.parent_path().filename().string();
  const solver::FunctionSpec& spec = table.problem.function;
  if (spec.name != function) {
    throw Error("holds a table of '" + spec.name + "', its folder says '" + function + "'",
                path.string());
  }
  const std::string stem = solver::table_stem(table);
  if (stem != path.stem().string()) {
    throw Error("holds what belongs into '" + stem + ".json'", path.string());
  }
  const auto& known = solver::registry();
  const auto info = std::find_if(known.begin(), known.end(), [&spec](const auto& candidate) {
    return candidate.name == spec.name;
  });
  if (info == known.end()) {
    throw Error("'" + spec.name + "' is no registered function", path.string());
  }
  if (info->expression != spec.expression) {
    throw Error("its expression '" + spec.expression + "' is not the registry's", path.string());
  }
  return table;
}

}  // namespace

std::vector<solver::Table> load_tables(const std::string& folder) {
  std::vector<solver::Table> tables;
  std::error_code status;
  if (!fs::exists(folder, status)) return tables;
  for (const fs::path& function : sorted_entries(folder)) {
    if (!fs::is_directory(function, status)) continue;
    for (const fs::path& file : sorted_entries(function)) {
      if (file.extension() == ".json") tables.push_back(load_table(file));
    }
  }
  return tables;
}

}  // namespace fewbit::codegen
