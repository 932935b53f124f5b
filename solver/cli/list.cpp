#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "functions/registry.hpp"

namespace fewbit::solver {

namespace {

std::string range_of(const ParameterInfo& parameter) {
  return fmt::format("{}{}, {}]", parameter.lo_open ? "(" : "[", shortest(parameter.lo),
                     shortest(parameter.hi));
}

std::string text_of(const FunctionInfo& function) {
  std::string title = function.name;
  for (size_t i = 0; i < function.aliases.size(); ++i) {
    title += (i == 0 ? " (also " : ", ") + function.aliases[i];
  }
  if (!function.aliases.empty()) title += ')';
  std::string text = title + "\n    f(x) = " + function.expression + "\n";
  for (const auto& parameter : function.parameters) {
    text += fmt::format("    {} = {} by default, in {}\n", parameter.name,
                        shortest(parameter.initial), range_of(parameter));
  }
  if (!function.source.empty()) text += "    " + function.source + "\n";
  return text;
}

/// JSON has no infinity: such an end is left out.
nlohmann::ordered_json json_of(const ParameterInfo& parameter) {
  nlohmann::ordered_json json{{"name", parameter.name}, {"default", parameter.initial}};
  if (std::isfinite(parameter.lo)) json["lo"] = parameter.lo;
  if (std::isfinite(parameter.hi)) json["hi"] = parameter.hi;
  json["lo_open"] = parameter.lo_open;
  return json;
}

std::string registry_json() {
  auto list = nlohmann::ordered_json::array();
  for (const auto& function : registry()) {
    auto parameters = nlohmann::ordered_json::array();
    for (const auto& parameter : function.parameters) parameters.push_back(json_of(parameter));
    list.push_back({{"name", function.name},
                    {"aliases", function.aliases},
                    {"parameters", parameters},
                    {"expression", function.expression},
                    {"source", function.source}});
  }
  return list.dump(2) + "\n";
}

int run(bool json) {
  if (json) {
    print(registry_json());
    return 0;
  }
  for (const auto& function : registry()) print(text_of(function));
  return 0;
}

}  // namespace

Subcommand add_list(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("list", "Print the built-in functions with parameters and sources");
  command->add_flag("--json", *json, "As JSON");
  command->footer(R"(Examples:
  fewbit-solve list
  fewbit-solve list --json)");
  return {command, [json] { return run(*json); }};
}

}  // namespace fewbit::solver
