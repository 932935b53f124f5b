#include "report/names.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace fewbit::solver {

std::string function_name(const FunctionSpec& function) {
  if (function.parameters.empty()) return function.name;
  std::string text = function.name + "(";
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const auto& [name, value] = function.parameters[i];
    text += (i > 0 ? ", " : "") + name + "=" + shortest(value);
  }
  return text + ")";
}

std::string weight_name(const WeightSpec& weight) {
  if (!weight.masses.empty()) {
    const char* parts = weight.is_discrete() ? "value" : "bin";
    std::string text = weight.kind + " of " + counted(weight.masses.size(), parts);
    if (!weight.units.empty()) text += ", " + counted(weight.units.size(), "unit");
    return text;
  }
  std::string text = weight.kind;
  for (size_t i = 0; i < weight.parameters.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + shortest(weight.parameters[i].second);
  }
  return weight.parameters.empty() ? text : text + ")";
}

std::string domain_name(const Domain& domain) {
  return fmt::format("{}{}, {}{}", std::isinf(domain.lo) ? "(" : "[", shortest(domain.lo),
                     shortest(domain.hi), std::isinf(domain.hi) ? ")" : "]");
}

std::string variant_name(const Problem& problem) {
  const std::string form = problem.objective.smoothed ? "smoothed" : to_string(problem.form);
  return form + ", " + weight_name(problem.weight);
}

std::string size_name(const Table& table) {
  const auto bits = static_cast<size_t>(table.bits());
  std::string text = counted(bits, "bit");
  if (table.levels.size() == size_t{1} << bits) return text;
  return counted(table.levels.size(), "level") + " in " + text;
}

std::string short_number(double value, int digits) {
  return fmt::format("{:.{}g}", value, digits);
}

std::string gap_name(const Table& table) {
  if (table.error == 0.0) return "exact";
  return fmt::format("within {:.1e} of the optimum", table.relative_gap);
}

}  // namespace fewbit::solver
