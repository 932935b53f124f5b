#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/identifier.hpp"
#include "base/text.hpp"
#include "expression/library.hpp"
#include "functions/registry.hpp"

namespace fewbit::solver {

namespace {

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string range_of(const ParameterInfo& info) {
  if (info.lo_open) return "greater than " + shortest(info.lo) + ", at most " + shortest(info.hi);
  return "from " + shortest(info.lo) + " to " + shortest(info.hi);
}

void check_value(const FunctionInfo& info, const ParameterInfo& parameter, double value) {
  const bool above = parameter.lo_open ? value > parameter.lo : value >= parameter.lo;
  if (above && value <= parameter.hi) return;
  throw Error("function " + info.name + ": " + parameter.name + " = " + shortest(value) +
              " is out of range (" + range_of(parameter) + ")");
}

void set_parameter(const FunctionInfo& info, FunctionSpec& spec, std::vector<bool>& seen,
                   std::string_view item) {
  const size_t equals = item.find('=');
  if (equals == std::string_view::npos) {
    throw Error("function " + info.name + ": '" + std::string(item) + "' is not NAME=VALUE");
  }
  const std::string name(item.substr(0, equals));
  const auto known = std::find_if(info.parameters.begin(), info.parameters.end(),
                                  [&](const ParameterInfo& p) { return p.name == name; });
  if (known == info.parameters.end()) {
    std::vector<std::string> names;
    for (const ParameterInfo& p : info.parameters) names.push_back(p.name);
    throw Error("function " + info.name + ": unknown parameter '" + name +
                "' (accepted: " + (names.empty() ? "none" : list_of(names)) + ")");
  }
  const double value = parse_number(item.substr(equals + 1), info.name + ":" + name);
  check_value(info, *known, value);
  const auto index = static_cast<size_t>(known - info.parameters.begin());
  if (seen[index]) throw Error("function " + info.name + ": " + name + " is given twice");
  seen[index] = true;
  spec.parameters[index].second = value;
}

void check_together(const FunctionInfo& info, const std::vector<Expression::Parameter>& values) {
  if (info.name != "hardtanh" || values[0].second < values[1].second) return;
  throw Error("function hardtanh: min = " + shortest(values[0].second) +
              " is not less than max = " + shortest(values[1].second));
}

void check_values(const FunctionInfo& info, const std::vector<Expression::Parameter>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    check_value(info, info.parameters[i], values[i].second);
  }
  check_together(info, values);
}

std::vector<Expression::Parameter> defaults_of(const FunctionInfo& info) {
  std::vector<Expression::Parameter> values;
  for (const ParameterInfo& p : info.parameters) values.emplace_back(p.name, p.initial);
  return values;
}

/// What `info` means in an expression that calls it `name`.
Definition definition_of(const FunctionInfo& info, const std::string& name) {
  return {name, {"x"}, defaults_of(info), info.expression, [&info](const auto& values) {
            check_values(info, values);
          }};
}

const FunctionInfo* lookup(std::string_view name) {
  for (const FunctionInfo& info : registry()) {
    if (info.name == name ||
        std::find(info.aliases.begin(), info.aliases.end(), name) != info.aliases.end()) {
      return &info;
    }
  }
  return nullptr;
}

}  // namespace

const FunctionInfo& find_function(std::string_view name) {
  if (const FunctionInfo* info = lookup(name)) return *info;
  std::vector<std::string> names;
  for (const FunctionInfo& info : registry()) {
    names.push_back(info.name);
    names.insert(names.end(), info.aliases.begin(), info.aliases.end());
  }
  const std::vector<std::string> near = nearest_names(name, names);
  constexpr size_t kShown = 64;
  throw Error(
      "unknown function '" + std::string(name.substr(0, kShown)) +
      (name.size() > kShown ? "...'" : "'") +
      (near.empty() ? " (fewbit-solve list shows all)" : " (nearest: " + list_of(near) + ")"));
}

const Library& function_library() {
  static const Library library = [] {
    Library definitions;
    for (const FunctionInfo& info : registry()) {
      definitions.push_back(definition_of(info, info.name));
      for (const std::string& alias : info.aliases) {
        definitions.push_back(definition_of(info, alias));
      }
    }
    return definitions;
  }();
  return library;
}

FunctionSpec parse_function(std::string_view text) {
  const size_t colon = text.find(':');
  const FunctionInfo& info = find_function(text.substr(0, colon));
  FunctionSpec spec{info.name, defaults_of(info), info.expression};
  std::vector<bool> seen(info.parameters.size());
  for (size_t end = colon; end != std::string_view::npos;) {
    const size_t begin = end + 1;
    end = text.find(',', begin);
    set_parameter(info, spec, seen, text.substr(begin, end - begin));
  }
  check_together(info, spec.parameters);
  return spec;
}

FunctionSpec custom_function(std::string_view name, std::string_view expression) {
  if (!is_identifier(name)) {
    throw Error("name '" + std::string(name.substr(0, 65)) +
                "' is not an identifier (letters, digits and _, at most 64, no digit first)");
  }
  if (is_cpp_keyword(name)) {
    throw Error("name '" + std::string(name) + "' is a keyword of C++; choose another one");
  }
  if (lookup(name) != nullptr) {
    throw Error("name '" + std::string(name) + "' is a registered function; choose another one");
  }
  return {std::string(name), {}, Expression::parse(expression, {}, function_library()).text()};
}

Expression expression_of(const FunctionSpec& spec) {
  return Expression::parse(spec.expression, spec.parameters);
}

Expression expression_of(const FunctionInfo& info) {
  return Expression::parse(info.expression, defaults_of(info));
}

}  // namespace fewbit::solver
