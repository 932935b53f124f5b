#include "codegen/emit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/identifier.hpp"
#include "base/text.hpp"
#include "codegen/emit_parts.hpp"
#include "codegen/function_code.hpp"
#include "codegen/literal.hpp"
#include "codegen/table_text.hpp"
#include "functions/registry.hpp"

namespace fewbit::codegen {

namespace {

using solver::Form;
using solver::Symmetry;
using solver::Table;

/// The names go into code and comments.
void check_names(const Table& table) {
  const solver::FunctionSpec& function = table.problem.function;
  const auto check = [](const std::string& name, const std::string& field) {
    if (!is_identifier(name)) throw Error("'" + name + "' is no identifier", "", field);
  };
  check(function.name, "function.name");
  for (const auto& [name, value] : function.parameters) check(name, "function.parameters");
}

/// Levels and thresholds are constants of float there.
void check_magnitudes(const Table& table) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const auto check = [](const std::vector<double>& numbers, const std::string& field) {
    for (const double number : numbers) {
      if (std::abs(number) <= kLargest) continue;
      throw Error(shortest(number) + " is beyond the range of float, which code has", "", field);
    }
  };
  check(table.levels, "levels");
  check(table.thresholds, "thresholds");
}

void add_table(Values& values, const Table& table) {
  values["LEVELS"] = comma_list(hex_literals(float_levels(table)), 6);
  values["LEVELS_DECIMAL"] = decimal_comment("levels", table.levels, 2);
}

/// Device code keeps an array out of each thread's own memory only where it is static.
Values storage_values(bool is_cuda) {
  return {{"DECODE_KIND", is_cuda ? "inline" : "constexpr"},
          {"ARRAY_KIND", is_cuda ? "static constexpr" : "constexpr"}};
}

std::string halving_text(size_t thresholds) {
  std::string text;
  for (const size_t step : halving_steps(thresholds)) {
    text += fmt::format(
        "  interval += static_cast<unsigned>(position > thresholds[interval + {}]) * {};\n",
        step - 1, step);
  }
  return text;
}

/// From threshold to threshold, or, for a long list, halving it again and again.
std::string search_text(const Table& table, size_t threshold_count, Values values) {
  std::vector<int> codes = table.codes;
  codes.resize(threshold_count + 1, codes.back());
  std::vector<std::string> items;
  std::vector<std::string> steps;
  for (size_t i = 0; i < codes.size(); ++i) {
    items.push_back(std::to_string(codes[i]));
    if (i > 0) steps.push_back(std::to_string(codes[i] - codes[i - 1]));
  }
  values["THRESHOLD_COUNT"] = std::to_string(threshold_count);
  values["HALVES"] = halving_text(threshold_count);
  values["FIRST_CODE"] = std::to_string(codes[0]);
  values["STEPS"] = comma_list(steps, 6);
  values["CODES"] = comma_list(items, 6);
  return render(threshold_count > kMostCompared ? "search_binary.in" : "search_linear.in", values);
}

std::string encode_text(const Table& table, bool is_cuda) {
  if (table.problem.form == Form::unbiased) return render("encode_unbiased.in", {});
  const bool is_even = table.symmetry == Symmetry::even;
  std::vector<float> thresholds = float_thresholds(table);
  // An array has at least one element.
  if (thresholds.empty()) thresholds.push_back(std::numeric_limits<float>::infinity());
  Values values = storage_values(is_cuda);
  values["SEARCH"] = search_text(table, thresholds.size(), values);
  values["OF_X"] = is_even ? " of |x|" : "";
  values["POSITION"] = is_even ? "x < 0.0f ? -x : x" : "x";
  values["THRESHOLDS_DECIMAL"] = decimal_comment("thresholds", table.thresholds, 2);
  values["THRESHOLDS"] = comma_list(hex_literals(thresholds), 6);
  return render("encode_thresholds.in", values);
}

/// How forward is told the random numbers' seed; nothing for tables with thresholds.
Values random_values(bool is_unbiased) {
  if (!is_unbiased) {
    return {{"RANDOM_PARAMETERS", ""}, {"RANDOM_SETUP", ""}, {"RANDOM_ARGUMENT", ""},
            {"RANDOM_EXAMPLE", ""},    {"RANDOM_PASS", ""},  {"RANDOM_NOTE", ""}};
  }
  return {{"RANDOM_PARAMETERS", ", uint64_t seed, uint64_t offset"},
          {"RANDOM_SETUP", "  Random random(seed);\n"},
          {"RANDOM_ARGUMENT", ", random.uniform(offset + i)"},
          {"RANDOM_EXAMPLE", ", /*seed=*/1, /*offset=*/0"},
          {"RANDOM_PASS", ", seed, offset"},
          {"RANDOM_NOTE",
           " Element i draws random number offset + i of the\n"
           "/// stream `seed`: take another seed for every tensor and step."}};
}

/// Lines of prose as lines of a comment.
std::string commented(const std::string& text) {
  std::istringstream lines(text);
  std::string comment;
  for (std::string line; std::getline(lines, line);) comment += "// " + line + "\n";
  return comment;
}

/// One macro for each table and namespace: the same header under two names is taken once.
std::string guard_name(const Table& table, Language language, std::string name_space) {
  const std::string name = default_namespace(table, language);
  std::replace(name_space.begin(), name_space.end(), ':', '_');
  return "EMITTED_" + name + (name == name_space ? "" : "_IN_" + name_space);
}

constexpr const char* kCppElements =
    "// Elements are float, or a 16-bit floating type T whose values static_cast turns into float\n"
    "// exactly and back by rounding: std::float16_t, std::bfloat16_t, _Float16, a class of your "
    "own.\n"
    "// Its values being floats, thresholds rounded down to float keep x > t true to the real "
    "numbers.\n";
constexpr const char* kCudaElements =
    "// Elements are float, __half, __nv_bfloat16, or another 16-bit floating type T that "
    "static_cast\n"
    "// turns into float exactly and back by rounding. Its values being floats, thresholds "
    "rounded\n"
    "// down to float keep x > t true to the real numbers. Where CUDA is off the kernels are left "
    "out.\n";
constexpr const char* kCudaIncludes =
    "#if defined(__CUDACC__)\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"
    "#include <cuda_runtime.h>\n#endif\n\n";

std::string emit_header(const Table& table, Language language, const std::string& name_space) {
  const bool is_cuda = language == Language::cuda;
  const solver::Expression expression = solver::expression_of(table.problem.function);
  const FunctionCode function = write_function(expression, Parameters::folded);
  Values values = common_values(table, language, name_space);
  values.merge(random_values(table.problem.form == Form::unbiased));
  values.merge(storage_values(is_cuda));
  add_table(values, table);
  values["SUMMARY"] = summary_text(table, "//   ");
  values["ELEMENTS"] = is_cuda ? kCudaElements : kCppElements;
  values["EXAMPLE"] = render(is_cuda ? "example_cuda.in" : "example_cpp.in", values);
  values["NAMESPACE_NOTE"] = commented(values["NAMESPACE_NOTE"]);
  values["OWNER"] = commented(values["OWNER"]);
  values["GUARD"] = guard_name(table, language, name_space);
  values["INCLUDES"] = std::string(is_cuda ? kCudaIncludes : "") +
                       "#include <cmath>\n#include <cstddef>\n#include <cstdint>\n"
                       "#include <cstring>\n#include <type_traits>\n";
  values["MATH"] = math_sections(function.primitives);
  values["FUNCTION"] = function.text;
  values["ENCODE"] = encode_text(table, is_cuda);
  values["ELEMENT_TYPES"] =
      render("element_types.in", values) + (is_cuda ? render("element_types_cuda.in", values) : "");
  values["LOOPS"] = render(is_cuda ? "loops_cuda.in" : "loops_cpp.in", values);
  return render("header.in", values);
}

}  // namespace

std::string emit_code(const Table& table, Language language, const std::string& name_space) {
  check_names(table);
  check_magnitudes(table);
  if (!name_space.empty()) check_namespace(name_space, language);
  const std::string& name = name_space.empty() ? default_namespace(table, language) : name_space;
  if (is_python(language)) return emit_python(table, language, name);
  return emit_header(table, language, name);
}

}  // namespace fewbit::codegen
