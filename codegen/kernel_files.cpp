#include "codegen/kernel_files.hpp"

#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "codegen/function_code.hpp"
#include "codegen/literal.hpp"
#include "codegen/table_text.hpp"
#include "codegen/templates.hpp"
#include "expression/pieces.hpp"
#include "functions/registry.hpp"
#include "table/json.hpp"

namespace fewbit::codegen {

namespace {

using solver::FunctionInfo;
using solver::Table;

/// One constexpr array in namespace tables; "nullptr" stands for it where it is empty.
std::string array_text(const std::string& type, const std::string& name,
                       const std::vector<std::string>& items) {
  if (items.empty()) return "";
  return "inline constexpr " + type + " " + name + "[] = {\n" + comma_list(items, 4) + "};\n";
}

std::vector<std::string> parameter_literals(const Table& table) {
  std::vector<std::string> items;
  for (const auto& [name, value] : table.problem.function.parameters) {
    items.push_back(hex_literal(static_cast<float>(value)));
  }
  return items;
}

std::vector<std::string> level_literals(const Table& table) {
  std::vector<float> levels;
  for (const double level : table.levels) levels.push_back(static_cast<float>(level));
  return hex_literals(levels);
}

std::string quoted(const std::string& text) {
  return fmt::format("\"{}\"", text);
}

std::string table_struct(const Table& table, const std::string& stem) {
  const auto pointer = [&stem](bool exists, const char* part) {
    return exists ? stem + "_" + part : std::string("nullptr");
  };
  const auto& domain = table.problem.domain;
  const std::vector<std::string> fields = {
      quoted(stem),
      quoted(solver::to_string(table.problem.form)),
      quoted(weight_text(table.problem.weight)),
      std::to_string(table.bits()),
      table.symmetry == solver::Symmetry::even ? "true" : "false",
      std::to_string(table.thresholds.size()),
      std::to_string(table.levels.size()),
      std::to_string(table.problem.function.parameters.size()),
      pointer(!table.thresholds.empty(), "thresholds"),
      pointer(!table.codes.empty(), "codes"),
      pointer(true, "levels"),
      pointer(!table.problem.function.parameters.empty(), "parameters"),
      double_literal(domain.lo),
      double_literal(domain.hi),
      double_literal(table.error),
      double_literal(table.lower_bound)};
  return "inline constexpr StepTable " + stem + " = {\n" + comma_list(fields, 4) + "};\n";
}

std::string table_text(const Table& table) {
  const std::string stem = solver::table_stem(table);
  std::string text = "\n// " + stem + ": " + function_title(table) + "\n";
  for (const std::string& line : table_summary(table)) text += "// " + line + "\n";
  if (table.problem.form != solver::Form::unbiased) {
    text += decimal_comment("thresholds", table.thresholds, 0);
  }
  text += decimal_comment("levels", table.levels, 0);
  text += array_text("float", stem + "_thresholds", hex_literals(float_thresholds(table)));
  text += array_text("uint8_t", stem + "_codes", code_literals(table));
  text += array_text("float", stem + "_levels", level_literals(table));
  text += array_text("float", stem + "_parameters", parameter_literals(table));
  return text + table_struct(table, stem);
}

/// Where the pieces of f meet, all over the floats: "FEWBIT_KINKS(f, count, x...)", a negative
/// count where they are too many or cannot be told.
std::string kinks_line(const FunctionInfo& info) {
  constexpr size_t kMost = 16;
  constexpr auto kEnd = static_cast<double>(std::numeric_limits<float>::max());
  const std::string start = "FEWBIT_KINKS(" + info.name + ", ";
  try {
    const auto pieces = solver::split_at_kinks(solver::expression_of(info), -kEnd, kEnd);
    if (pieces.size() > kMost + 1) return start + "-1)\n";
    std::string line = start + std::to_string(pieces.size() - 1);
    for (size_t i = 1; i < pieces.size(); ++i) line += ", " + double_literal(pieces[i].lo);
    return line + ")\n";
  } catch (const Error&) {
    return start + "-1)\n";
  }
}

std::string registry_include(const Functions& functions, const std::vector<Table>& tables) {
  std::string text =
      "// " + kNotice +
      "//\n"
      "// FEWBIT_FUNCTION(name, default parameters...), FEWBIT_KINKS(function, number of kinks, "
      "kinks...),\n"
      "// FEWBIT_TABLE(function, table): define what you need before including this file; all are\n"
      "// undefined after it.\n"
      "#if !defined(FEWBIT_FUNCTION)\n#define FEWBIT_FUNCTION(...)\n#endif\n"
      "#if !defined(FEWBIT_KINKS)\n#define FEWBIT_KINKS(...)\n#endif\n"
      "#if !defined(FEWBIT_TABLE)\n#define FEWBIT_TABLE(function, table)\n#endif\n\n";
  for (const FunctionInfo& info : functions) {
    text += "FEWBIT_FUNCTION(" + info.name;
    for (const auto& parameter : info.parameters) {
      text += ", " + double_literal(parameter.initial);
    }
    text += ")\n" + kinks_line(info);
    for (const Table& table : tables) {
      if (table.problem.function.name != info.name) continue;
      text += "FEWBIT_TABLE(" + info.name + ", " + solver::table_stem(table) + ")\n";
    }
  }
  return text + "\n#undef FEWBIT_FUNCTION\n#undef FEWBIT_KINKS\n#undef FEWBIT_TABLE\n";
}

std::string functions_include(const Functions& functions) {
  std::string text = "// " + kNotice + "#pragma once\n\n";
  for (const FunctionInfo& info : functions) text += "#include \"" + info.name + ".hpp\"\n";
  return text;
}

}  // namespace

std::string function_header(const FunctionInfo& info, const std::vector<Table>& tables,
                            const std::string& origin) {
  std::string text;
  for (const Table& table : tables) {
    if (table.problem.function.name == info.name) text += table_text(table);
  }
  if (!text.empty()) text = "\nnamespace tables {\n" + text + "\n}  // namespace tables\n";
  const FunctionCode code = write_function(solver::expression_of(info), Parameters::arguments);
  return render("function.in",
                {{"ORIGIN", origin},
                 {"NAME", info.name},
                 {"FUNCTION", code.text + code.wide_text + code.brief_text + code.warp_text},
                 {"TABLES", text}});
}

std::string cuda_source(const std::string& name, const std::string& registry,
                        const std::string& header, const std::string& origin) {
  return render("cuda_function.in",
                {{"ORIGIN", origin}, {"HEADER", header}, {"REGISTRY", registry}, {"NAME", name}});
}

Files kernel_files(const Functions& functions, const std::vector<Table>& tables) {
  Files files;
  files["math.hpp"] = "// " + kNotice + "//\n" + math_header();
  files["step_table.hpp"] = "// " + kNotice + std::string(template_text("step_table.hpp"));
  files["functions.hpp"] = functions_include(functions);
  files["registry.inc"] = registry_include(functions, tables);
  return files;
}

}  // namespace fewbit::codegen
