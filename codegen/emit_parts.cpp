#include "codegen/emit_parts.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/identifier.hpp"
#include "base/text.hpp"
#include "codegen/table_text.hpp"
#include "functions/registry.hpp"
#include "table/json.hpp"

namespace fewbit::codegen {

namespace {

using solver::Table;

[[noreturn]] void refuse_namespace(const std::string& name, const std::string& reason) {
  throw Error("'" + name + "' " + reason);
}

constexpr const char* kDefaultNote =
    "The namespace is named after function, form, bits and a digest of the table's JSON text, so\n"
    "that tables that differ can be used side by side; `emit --namespace NAME` takes another.\n";

}  // namespace

bool is_python(Language language) {
  return language == Language::torch || language == Language::triton;
}

void check_namespace(const std::string& name, Language language) {
  size_t begin = 0;
  for (size_t end = 0; end != std::string::npos; begin = end + 2) {
    end = name.find("::", begin);
    const std::string part =
        name.substr(begin, end == std::string::npos ? std::string::npos : end - begin);
    if (end != std::string::npos && is_python(language)) {
      refuse_namespace(name, "is nested, torch.library takes one identifier");
    }
    if (!is_identifier(part)) {
      refuse_namespace(
          name,
          "is no identifier" + std::string(is_python(language) ? "" : " or several joined by ::"));
    }
    if (is_cpp_keyword(part)) refuse_namespace(name, "holds '" + part + "', a keyword of C++");
    if (begin == 0 && part == "std") refuse_namespace(name, "is the standard library's");
  }
}

std::string default_namespace(const Table& table, Language language) {
  const char* form = solver::to_string(table.problem.form);
  const std::string suffix = language == Language::cuda     ? "_cuda"
                             : language == Language::triton ? "_triton"
                                                            : "";
  return fmt::format("fewbit_{}_{}_b{}_{}{}", table.problem.function.name,
                     table.problem.objective.smoothed ? "smoothed" : form, table.bits(),
                     digest(solver::to_json(table)).substr(0, 12), suffix);
}

std::string summary_text(const Table& table, const std::string& start) {
  const solver::Expression expression = solver::expression_of(table.problem.function);
  std::string text = start + "f(x) = " + expression.text() + "\n";
  for (const std::string& line : table_summary(table)) text += start + line + "\n";
  return text;
}

Values common_values(const Table& table, Language language, const std::string& name_space) {
  const std::string bits = std::to_string(table.bits());
  return {{"LICENCE", "SPDX-License-Identifier: Apache-2.0"},
          {"OWNER",
           "It belongs to whoever had it emitted; the text that all such files share is fewbit's, "
           "under\n"
           "the licence above.\n"},
          {"TITLE", function_title(table) + ", " + bits + (table.bits() == 1 ? " bit" : " bits")},
          {"BITS", bits},
          {"CODE_MASK", std::to_string((1 << table.bits()) - 1)},
          {"LEVEL_COUNT", std::to_string(table.levels.size())},
          {"NAMESPACE", name_space},
          {"NAMESPACE_NOTE", name_space == default_namespace(table, language) ? kDefaultNote : ""}};
}

std::vector<size_t> halving_steps(size_t count) {
  std::vector<size_t> steps;
  for (; count > 1; count -= steps.back()) steps.push_back(count / 2);
  steps.push_back(1);
  return steps;
}

}  // namespace fewbit::codegen
