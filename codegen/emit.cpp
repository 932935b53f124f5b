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

std::string encode_text(const Table& table) {
  if (table.problem.form == Form::unbiased) return render("encode_unbiased.in", {});
  const bool is_even = table.symmetry == Symmetry::even;
  std::vector<float> thresholds = float_thresholds(table);
  if (thresholds.empty()) thresholds.push_back(std::numeric_limits<float>::infinity());  // an array has at least one element
  std::vector<std::string> codes;
  for (const int code : table.codes) codes.push_back(std::to_string(code));
  codes.resize(thresholds.size() + 1, codes.back());
  // A long list is halved again and again, a short one is faster without branches.
  const std::string count = std::to_string(thresholds.size());
  const char* search = thresholds.size() > 32 ? "search_binary.in" : "search_linear.in";
  return render("encode_thresholds.in",
                {{"SEARCH", render(search, {{"THRESHOLD_COUNT", count}})},
                 {"OF_X", is_even ? " of |x|" : ""},
                 {"POSITION", is_even ? "x < 0.0f ? -x : x" : "x"},
                 {"THRESHOLDS_DECIMAL", decimal_comment("thresholds", table.thresholds, 2)},
                 {"THRESHOLDS", comma_list(hex_literals(thresholds), 6)},
                 {"CODES", comma_list(codes, 6)}});
}

/// How forward is told the random numbers' seed; nothing for tables with thresholds.
Values random_values(bool is_unbiased) {
  if (!is_unbiased) {
    return {{"RANDOM_PARAMETERS", ""}, {"RANDOM_SETUP", ""}, {"RANDOM_ARGUMENT", ""},
            {"RANDOM_PASS", ""},       {"RANDOM_NOTE", ""}};
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
  values["TITLE"] = function_title(table) + ", " + values["BITS"] +
                    (table.bits() == 1 ? " bit" : " bits") + ": a few-bit derivative in one header.";
  values["SUMMARY"] = summary_text(table, table.problem.function.expression);
  values["INCLUDES"] = std::string(is_cuda ? "#include <cuda_runtime.h>\n\n" : "") +
                       "#include <cmath>\n#include <cstddef>\n#include <cstdint>\n#include <cstring>\n";
  values["NAMESPACE"] = "fewbit_" + table.problem.function.name + "_b" + values["BITS"];
  values["MATH"] = math_sections(function.primitives);
  values["FUNCTION"] = function.text;
  values["ENCODE"] = encode_text(table);
  return render("header.in", values);
}

}  // namespace fewbit::codegen
