#include "expression/vocabulary.hpp"

#include <algorithm>
#include <numbers>

#include "base/text.hpp"

namespace fewbit::solver {

namespace {

[[noreturn]] void refuse(const std::string& kind, const std::string& word, size_t start,
                         const Cursor& in, const std::vector<std::string>& known) {
  constexpr size_t kShown = 40;
  std::string message = "unknown " + kind + " '" + word.substr(0, kShown);
  message += word.size() > kShown ? "...'" : "'";
  const std::vector<std::string> near = nearest_names(word.substr(0, 2 * kShown), known);
  for (size_t i = 0; i < near.size(); ++i) message += (i == 0 ? " (nearest: " : ", ") + near[i];
  in.fail_from(start, message + (near.empty() ? "" : ")"));
}

}  // namespace

size_t Callee::values() const {
  return operation != nullptr ? static_cast<size_t>(operation->operands)
                              : definition->arguments.size();
}

const std::vector<Expression::Parameter>& Callee::parameters() const {
  static const std::vector<Expression::Parameter> none;
  return definition != nullptr ? definition->parameters : none;
}

ValueNames names_of_values(const std::vector<Expression::Parameter>& parameters,
                           TapeBuilder& tape) {
  ValueNames names{{"x", [&tape] { return tape.variable(); }}};
  for (size_t i = 0; i < parameters.size(); ++i) {
    names.emplace_back(parameters[i].first,
                       [&tape, i] { return tape.parameter(static_cast<int>(i)); });
  }
  names.emplace_back("e", [&tape] { return tape.constant(std::numbers::e); });
  names.emplace_back("pi", [&tape] { return tape.constant(std::numbers::pi); });
  return names;
}

int Vocabulary::value(const std::string& word, size_t start, const Cursor& in) const {
  for (const auto& [name, node] : names_) {
    if (name == word) return node();
  }
  refuse_value(word, start, in);
}

Callee Vocabulary::function(const std::string& word, size_t start, const Cursor& in) const {
  Callee callee;
  for (const OpInfo& info : function_operations()) {
    if (word == info.name) callee.operation = &info;
  }
  for (const Library* library : {&compositions(), &library_}) {
    for (const Definition& definition : *library) {
      if (word == definition.name) callee.definition = &definition;
    }
  }
  if (callee.operation == nullptr && callee.definition == nullptr) refuse_function(word, start, in);
  return callee;
}

std::vector<std::string> Vocabulary::function_names() const {
  std::vector<std::string> names;
  for (const OpInfo& info : function_operations()) names.emplace_back(info.name);
  for (const Library* library : {&compositions(), &library_}) {
    for (const Definition& definition : *library) names.push_back(definition.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void Vocabulary::refuse_value(const std::string& word, size_t start, const Cursor& in) const {
  std::vector<std::string> known = function_names();
  if (std::find(known.begin(), known.end(), word) != known.end()) {
    in.fail_from(start, "'" + word + "' is a function: expected '(' behind it");
  }
  for (const auto& [name, node] : names_) known.push_back(name);
  refuse("name", word, start, in, known);
}

void Vocabulary::refuse_function(const std::string& word, size_t start, const Cursor& in) const {
  const auto same = [&](const auto& name) { return name.first == word; };
  if (std::any_of(names_.begin(), names_.end(), same)) {
    in.fail_from(start, "'" + word + "' is no function (an operator is missing)");
  }
  refuse("function", word, start, in, function_names());
}

}  // namespace fewbit::solver
