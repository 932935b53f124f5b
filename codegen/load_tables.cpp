#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "codegen/generate.hpp"
#include "functions/quantizers.hpp"
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

/// Of a registered function or a quantiser; empty for any other name.
std::string known_expression(const std::string& name) {
  for (const solver::FunctionInfo& info : solver::registry()) {
    if (info.name == name) return info.expression;
  }
  for (const solver::FunctionSpec& quantizer : solver::quantizers()) {
    if (quantizer.name == name) return quantizer.expression;
  }
  return {};
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
  const std::string expression = known_expression(spec.name);
  if (expression.empty()) {
    throw Error("'" + spec.name + "' is no registered function and no quantiser", path.string());
  }
  if (expression != spec.expression) {
    throw Error("its expression '" + spec.expression + "' is not '" + expression + "'",
                path.string());
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

std::vector<solver::TrellisQuantizer> load_trellises(const std::string& folder) {
  const fs::path path = fs::path(folder) / solver::kTrellisFile;
  std::error_code status;
  if (!fs::exists(path, status)) return {};
  return solver::trellises_from_json(read_text_file(path.string()), path.string());
}

}  // namespace fewbit::codegen
