#include "codegen/emit.hpp"

#include <limits>

#include "codegen/function_code.hpp"
#include "codegen/literal.hpp"
#include "codegen/table_text.hpp"
#include "codegen/templates.hpp"
#include "functions/registry.hpp"

namespace fewbit::codegen {

namespace {

using solver::Form;
using solver::Symmetry;
using solver::Table;
using Values = std::map<std::string, std::string>;

void add_table(Values& values, const Table& table) {
  const int bits = table.bits();
  values["BITS"] = std::to_string(bits);
  values["LEVEL_COUNT"] = std::to_string(table.levels.size());
  values["CODE_MASK"] = std::to_string((1 << bits) - 1);
  values["LEVELS"] = comma_list(hex_literals(float_levels(table)), 6);
  values["LEVELS_DECIMAL"] = decimal_comment("levels", table.levels, 2);
}

/// From threshold to threshold without branches, or, for a long list, halving it again and again.
std::string search_text(const Table& table, size_t threshold_count) {
  std::vector<int> codes = table.codes;
  codes.resize(threshold_count + 1, codes.back());
  std::vector<std::string> items;
  std::vector<std::string> steps;
  for (size_t i = 0; i < codes.size(); ++i) {
    items.push_back(std::to_string(codes[i]));
    if (i > 0) steps.push_back(std::to_string(codes[i] - codes[i - 1]));
  }
  return render(threshold_count > 32 ? "search_binary.in" : "search_linear.in",
                {{"THRESHOLD_COUNT", std::to_string(threshold_count)},
                 {"FIRST_CODE", std::to_string(codes[0])},
                 {"STEPS", comma_list(steps, 6)},
                 {"CODES", comma_list(items, 6)}});
}

std::string encode_text(const Table& table) {
  if (table.problem.form == Form::unbiased) return render("encode_unbiased.in", {});
  const bool is_even = table.symmetry == Symmetry::even;
  std::vector<float> thresholds = float_thresholds(table);
  // An array has at least one element.
  if (thresholds.empty()) thresholds.push_back(std::numeric_limits<float>::infinity());
  return render("encode_thresholds.in",
                {{"OF_X", is_even ? " of |x|" : ""},
                 {"POSITION", is_even ? "x < 0.0f ? -x : x" : "x"},
                 {"THRESHOLDS_DECIMAL", decimal_comment("thresholds", table.thresholds, 2)},
                 {"THRESHOLDS", comma_list(hex_literals(thresholds), 6)},
                 {"SEARCH", search_text(table, thresholds.size())}});
}

/// How forward is told the random numbers' seed; nothing for tables with thresholds.
Values random_values(bool is_unbiased) {
  if (!is_unbiased) {
    return {{"RANDOM_PARAMETERS", ""},
            {"RANDOM_SETUP", ""},
            {"RANDOM_ARGUMENT", ""},
            {"RANDOM_PASS", ""},
            {"RANDOM_NOTE", ""}};
  }
  return {{"RANDOM_PARAMETERS", ", uint64_t seed, uint64_t offset"},
          {"RANDOM_SETUP", "  Random random(seed);\n"},
          {"RANDOM_ARGUMENT", ", random.uniform(offset + i)"},
          {"RANDOM_PASS", ", seed, offset"},
          {"RANDOM_NOTE",
           " Element i draws random number offset + i of the\n"
           "/// stream `seed`: take another seed for every tensor and step."}};
}

std::string summary_text(const Table& table, const std::string& expression) {
  std::string text = "//   f(x) = " + expression + "\n";
  for (const std::string& line : table_summary(table)) text += "//   " + line + "\n";
  return text;
}

}  // namespace

std::string emit_header(const Table& table, Language language) {
  const bool is_cuda = language == Language::cuda;
  const solver::Expression expression = solver::expression_of(table.problem.function);
  FunctionCode function = write_function(expression, Parameters::folded);
  Values values = random_values(table.problem.form == Form::unbiased);
  values["LOOPS"] = render(is_cuda ? "loops_cuda.in" : "loops_cpp.in", values);
  add_table(values, table);
  // Device code keeps an array out of each thread's own memory only where it is static.
  values["DECODE_KIND"] = is_cuda ? "inline" : "constexpr";
  values["ARRAY_KIND"] = is_cuda ? "static constexpr" : "constexpr";
  values["TITLE"] = function_title(table) + ", " + values["BITS"] +
                    (table.bits() == 1 ? " bit" : " bits") +
                    ": a few-bit derivative in one header.";
  values["SUMMARY"] = summary_text(table, table.problem.function.expression);
  values["INCLUDES"] =
      std::string(is_cuda ? "#include <cuda_runtime.h>\n\n" : "") +
      "#include <cmath>\n#include <cstddef>\n#include <cstdint>\n#include <cstring>\n";
  values["NAMESPACE"] = "fewbit_" + table.problem.function.name + "_b" + values["BITS"];
  values["MATH"] = math_sections(function.primitives);
  values["FUNCTION"] = function.text;
  values["ENCODE"] = encode_text(table);
  return render("header.in", values);
}

}  // namespace fewbit::codegen
