#include "codegen/table_text.hpp"

#include <sstream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "codegen/literal.hpp"
#include "table/rounding.hpp"

namespace fewbit::codegen {

using solver::Table;

std::vector<float> float_thresholds(const Table& table) {
  std::vector<float> values;
  for (const double t : table.thresholds) {
    values.push_back(static_cast<float>(solver::round_down(t, solver::DataType::fp32)));
  }
  return values;
}

std::vector<float> float_levels(const Table& table) {
  std::vector<float> values;
  for (const double level : table.levels) values.push_back(static_cast<float>(level));
  values.resize(size_t{1} << table.bits(), values.back());
  return values;
}

std::vector<std::string> hex_literals(const std::vector<float>& values) {
  std::vector<std::string> items;
  for (const float value : values) items.push_back(hex_literal(value));
  return items;
}

std::vector<std::string> code_literals(const solver::Table& table) {
  std::vector<std::string> items;
  for (const int code : table.codes) items.push_back(std::to_string(code));
  return items;
}

std::string function_title(const Table& table) {
  std::string text = table.problem.function.name;
  for (const auto& [name, value] : table.problem.function.parameters) {
    text += ", " + name + " = " + shortest(value);
  }
  return text;
}

std::string weight_text(const solver::WeightSpec& weight) {
  std::string values;
  for (const auto& [name, value] : weight.parameters) {
    values += (values.empty() ? " (" : ", ") + name + " " + shortest(value);
  }
  return weight.kind + (values.empty() ? "" : values + ")");
}

std::vector<std::string> table_summary(const Table& table) {
  const auto& [lo, hi] = table.problem.domain;
  std::vector<std::string> lines = {
      fmt::format("form {}, weight {}, domain [{}, {}]", solver::to_string(table.problem.form),
                  weight_text(table.problem.weight), shortest(lo), shortest(hi))};
  const solver::Objective& objective = table.problem.objective;
  if (objective.smoothed) {
    lines.push_back(fmt::format("smoothed objective (tau {}, lambda {}), rms smoothed bias {}",
                                shortest(objective.tau), shortest(objective.lambda),
                                shortest(table.smoothed_bias)));
  }
  lines.push_back(fmt::format("squared error {}, lower bound {}", shortest(table.error),
                              shortest(table.lower_bound)));
  lines.push_back(fmt::format("relative gap {}", shortest(table.relative_gap)));
  return lines;
}

std::string decimal_comment(const std::string& name, const std::vector<double>& values,
                            size_t indent) {
  std::vector<std::string> items;
  for (const double value : values) items.push_back(shortest(value));
  if (items.empty()) items.emplace_back("none");
  const std::string start = std::string(indent, ' ') + "// ";
  std::istringstream lines(comma_list(items, start.size() + 2));
  std::string text = start + name + "\n";
  for (std::string line; std::getline(lines, line);) {
    text.append(start).append("  ").append(line.substr(start.size() + 2)).append("\n");
  }
  return text;
}

}  // namespace fewbit::codegen
