#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/text.hpp"
#include "table/json.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kWidth = 100;

std::string number(double value) {
  return shortest(value == 0.0 ? 0.0 : value);  // -0 has no text of its own
}

std::string number(int value) {
  return std::to_string(value);
}

std::string number(const UnitSpec& unit) {
  return fmt::format("[{}, {}, {}]", number(unit.mean), number(unit.spread), number(unit.mass));
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string end_of_axis(double value) {
  const std::string text = number(value);
  return text.find("inf") == std::string::npos ? text : quoted(text);
}

/// `text` starts in the column where the array's line has got to.
template <class Value>
std::string array(const std::vector<Value>& values, size_t column, const std::string& indent) {
  std::string text = "[";
  ++column;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string item = number(values[i]) + (i + 1 < values.size() ? "," : "]");
    const bool first = i == 0;
    if (!first && column + 1 + item.size() + 1 > kWidth) {
      text += "\n" + indent;
      column = indent.size();
    } else if (!first) {
      text += ' ';
      ++column;
    }
    text += item;
    column += item.size();
  }
  return values.empty() ? "[]" : text;
}

/// Collects "key": value lines of one object.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string indent) : indent_(std::move(indent)) {}

  void add(const std::string& key, const std::string& value) {
    text_ += (text_.empty() ? "" : ",\n") + indent_ + quoted(key) + ": " + value;
  }

  template <class Value>
  void add(const std::string& key, const std::vector<Value>& values) {
    const size_t column = indent_.size() + quoted(key).size() + 2;
    add(key, array(values, column, indent_ + "  "));
  }

  std::string close() const { return fmt::format("{{\n{}\n{}}}", text_, indent_.substr(2)); }

 private:
  std::string indent_;
  std::string text_;
};

std::string inline_object(const std::vector<NamedValue>& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += (text.empty() ? "" : ", ") + quoted(name) + ": " + number(value);
  }
  return fmt::format("{{{}}}", text);
}

std::string function_text(const FunctionSpec& function) {
  ObjectWriter out("    ");
  out.add("name", quoted(function.name));
  out.add("parameters", inline_object(function.parameters));
  out.add("expression", quoted(function.expression));
  return out.close();
}

std::string objective_text(const Objective& objective) {
  if (!objective.smoothed) return quoted("squared");
  return fmt::format("{{\"smoothed\": {}}}",
                     inline_object({{"tau", objective.tau}, {"lambda", objective.lambda}}));
}

std::string weight_text(const WeightSpec& weight) {
  ObjectWriter out("    ");
  out.add("kind", quoted(weight.kind));
  for (const auto& [name, value] : weight.parameters) out.add(name, number(value));
  if (!weight.edges.empty()) out.add("edges", weight.edges);
  if (!weight.values.empty()) out.add("values", weight.values);
  if (!weight.masses.empty()) out.add("masses", weight.masses);
  if (!weight.units.empty()) out.add("units", weight.units);
  return out.close();
}

}  // namespace

std::string to_json(const Table& table) {
  const Problem& problem = table.problem;
  ObjectWriter out("  ");
  out.add("schema", "1");
  out.add("function", function_text(problem.function));
  out.add("form", quoted(to_string(problem.form)));
  out.add("objective", objective_text(problem.objective));
  out.add("smoothed_bias", number(table.smoothed_bias));
  out.add("bits", number(table.bits()));
  out.add("size", number(problem.levels));
  out.add("symmetry", quoted(to_string(table.symmetry)));
  out.add("dtype", quoted(to_string(problem.dtype)));
  out.add("domain",
          fmt::format("[{}, {}]", end_of_axis(problem.domain.lo), end_of_axis(problem.domain.hi)));
  out.add("weight", weight_text(problem.weight));
  out.add("thresholds", table.thresholds);
  out.add("codes", table.codes);
  out.add("levels", table.levels);
  out.add("error", number(table.error));
  out.add("lower_bound", number(table.lower_bound));
  out.add("relative_gap", number(table.relative_gap));
  out.add("residual", number(table.residual));
  out.add("solver", quoted(table.solver));
  return out.close() + "\n";
}

void write_table(const Table& table, const std::string& path) {
  write_text_file(path, to_json(table));
}

std::string table_stem(const Table& table) {
  const Problem& problem = table.problem;
  const std::string form = problem.objective.smoothed ? "smoothed" : to_string(problem.form);
  return form + "_" + problem.weight.kind + "_b" + std::to_string(table.bits());
}

}  // namespace fewbit::solver
