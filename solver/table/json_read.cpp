#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "table/check.hpp"
#include "table/json.hpp"
#include "table/json_guard.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kDepth = 8;

using Json = nlohmann::ordered_json;

/// A JSON value that knows its place, for the messages.
class Reader {
 public:
  Reader(const Json& value, const std::string& file, std::string field)
      : json_(value), file_(file), field_(std::move(field)) {}

  [[noreturn]] void fail(const std::string& message) const { throw Error(message, file_, field_); }

  Reader at(const std::string& key) const {
    require(json_.is_object(), "an object");
    if (!json_.contains(key)) Reader(json_, file_, child(key)).fail("is missing");
    return {json_.at(key), file_, child(key)};
  }

  /// Exactly these keys, in any order.
  void expect_keys(std::initializer_list<const char*> keys) const {
    require(json_.is_object(), "an object");
    for (const auto& item : json_.items()) {
      const auto same = [&](const char* key) { return item.key() == key; };
      if (std::none_of(keys.begin(), keys.end(), same)) {
        Reader(json_, file_, child(item.key())).fail("unknown key");
      }
    }
    for (const char* key : keys) at(key);
  }

  std::string text() const {
    require(json_.is_string(), "a text");
    return json_.get<std::string>();
  }

  double number() const {
    require(json_.is_number(), "a number");
    return json_.get<double>() + 0.0;  // no negative zero
  }

  int integer() const {
    require(json_.is_number_integer(), "a whole number");
    const double value = json_.get<double>();
    if (std::fabs(value) > 1e6) fail("is out of range");
    return static_cast<int>(value);
  }

  double end_of_axis() const {
    if (json_.is_string() && text() == "inf") return std::numeric_limits<double>::infinity();
    if (json_.is_string() && text() == "-inf") return -std::numeric_limits<double>::infinity();
    require(json_.is_number(), "a number, \"-inf\" or \"inf\"");
    return number();
  }

  std::vector<Reader> items() const {
    require(json_.is_array(), "an array");
    std::vector<Reader> readers;
    for (size_t i = 0; i < json_.size(); ++i) {
      readers.emplace_back(json_[i], file_, field_ + "[" + std::to_string(i) + "]");
    }
    return readers;
  }

  std::vector<double> numbers() const {
    std::vector<double> values;
    for (const auto& item : items()) values.push_back(item.number());
    return values;
  }

  std::vector<std::pair<std::string, Reader>> members() const {
    require(json_.is_object(), "an object");
    std::vector<std::pair<std::string, Reader>> readers;
    for (const auto& item : json_.items()) {
      readers.emplace_back(item.key(), Reader(item.value(), file_, child(item.key())));
    }
    return readers;
  }

  bool is_object() const { return json_.is_object(); }

 private:
  std::string child(const std::string& key) const {
    return field_.empty() ? key : field_ + "." + key;
  }

  void require(bool matches, const std::string& type) const {
    if (!matches) fail(std::string("must be ") + type + ", not " + json_.type_name());
  }

  const Json& json_;
  const std::string& file_;
  std::string field_;
};

template <class Enum>
Enum choice(const Reader& reader, std::initializer_list<Enum> values) {
  const std::string text = reader.text();
  std::string accepted;
  for (const Enum value : values) {
    if (text == to_string(value)) return value;
    accepted += (accepted.empty() ? "" : ", ") + std::string(to_string(value));
  }
  reader.fail("'" + text + "' is none of " + accepted);
}

FunctionSpec read_function(const Reader& reader) {
  reader.expect_keys({"name", "parameters", "expression"});
  FunctionSpec function;
  function.name = reader.at("name").text();
  for (const auto& [name, value] : reader.at("parameters").members()) {
    function.parameters.emplace_back(name, value.number());
  }
  function.expression = reader.at("expression").text();
  return function;
}

Objective read_objective(const Reader& reader) {
  Objective objective;
  if (!reader.is_object()) {
    if (reader.text() != "squared") reader.fail("must be \"squared\" or {\"smoothed\": ...}");
    return objective;
  }
  reader.expect_keys({"smoothed"});
  const Reader inner = reader.at("smoothed");
  inner.expect_keys({"tau", "lambda"});
  objective.smoothed = true;
  objective.tau = inner.at("tau").number();
  objective.lambda = inner.at("lambda").number();
  return objective;
}

Domain read_domain(const Reader& reader) {
  const auto ends = reader.items();
  if (ends.size() != 2) reader.fail("must have two ends");
  return {ends[0].end_of_axis(), ends[1].end_of_axis()};
}

UnitSpec read_unit(const Reader& reader) {
  const auto values = reader.numbers();
  if (values.size() != 3) reader.fail("must be [mean, spread, mass]");
  return {values[0], values[1], values[2]};
}

WeightSpec read_weight(const Reader& reader) {
  WeightSpec weight;
  weight.kind = reader.at("kind").text();
  for (const auto& [name, value] : reader.members()) {
    if (name == "kind") continue;
    if (name == "edges") {
      weight.edges = value.numbers();
    } else if (name == "values") {
      weight.values = value.numbers();
    } else if (name == "masses") {
      weight.masses = value.numbers();
    } else if (name == "units") {
      for (const auto& unit : value.items()) weight.units.push_back(read_unit(unit));
    } else {
      weight.parameters.emplace_back(name, value.number());
    }
  }
  return weight;
}

Problem read_problem(const Reader& root) {
  Problem problem;
  problem.function = read_function(root.at("function"));
  problem.form = choice(root.at("form"), {Form::intervals, Form::levels, Form::unbiased});
  problem.objective = read_objective(root.at("objective"));
  problem.levels = root.at("size").integer();
  problem.domain = read_domain(root.at("domain"));
  problem.weight = read_weight(root.at("weight"));
  problem.dtype =
      choice(root.at("dtype"), {DataType::exact, DataType::fp32, DataType::bf16, DataType::fp16});
  return problem;
}

Table read_root(const Reader& root) {
  root.expect_keys({"schema", "function", "form", "objective", "smoothed_bias", "bits", "size",
                    "symmetry", "dtype", "domain", "weight", "thresholds", "codes", "levels",
                    "error", "lower_bound", "relative_gap", "residual", "solver"});
  const int schema = root.at("schema").integer();
  if (schema != 1) root.at("schema").fail(std::to_string(schema) + " is not known, 1 is");
  Table table;
  table.problem = read_problem(root);
  table.symmetry = choice(root.at("symmetry"), {Symmetry::none, Symmetry::even});
  table.thresholds = root.at("thresholds").numbers();
  for (const auto& code : root.at("codes").items()) table.codes.push_back(code.integer());
  table.levels = root.at("levels").numbers();
  table.error = root.at("error").number();
  table.lower_bound = root.at("lower_bound").number();
  table.relative_gap = root.at("relative_gap").number();
  table.residual = root.at("residual").number();
  table.smoothed_bias = root.at("smoothed_bias").number();
  table.solver = root.at("solver").text();
  return table;
}

}  // namespace

Table from_json(std::string_view text, const std::string& file) {
  guard_json(text, kDepth, file);
  const Json json = Json::parse(text.begin(), text.end());
  const Reader root(json, file, {});
  Table table = read_root(root);
  check_table(table, file);
  const int bits = root.at("bits").integer();
  if (bits != table.bits()) {
    root.at("bits").fail(std::to_string(bits) + ", but " + counted(table.levels.size(), "level") +
                         (table.levels.size() == 1 ? " takes " : " take ") +
                         std::to_string(table.bits()));
  }
  return table;
}

Table read_table(const std::string& path) {
  return from_json(read_text_file(path), path);
}

}  // namespace fewbit::solver
