#include "codegen/torch_function.hpp"

#include <algorithm>
#include <map>
#include <regex>

#include "base/error.hpp"
#include "codegen/literal.hpp"
#include "expression/derivative.hpp"

namespace fewbit::codegen {

namespace {

using solver::FunctionInfo;

/// "my_act" -> "MyAct".
std::string in_capitals(const std::string& function) {
  std::string name;
  bool is_start = true;
  for (const char c : function) {
    const bool is_lower = c >= 'a' && c <= 'z';
    if (c != '_') name += is_start && is_lower ? static_cast<char>(c - 'a' + 'A') : c;
    is_start = c == '_';
  }
  if (name.empty()) throw Error("'" + function + "' gives no name for a module");
  return name;
}

bool has_step_derivative(const FunctionInfo& info) {
  constexpr double kEnd = 1e3;  // beyond every kink of the registry
  return solver::Derivative(expression_of(info), -kEnd, kEnd).is_step_function();
}

TorchFunction torch_function(const FunctionInfo& info) {
  const solver::TorchInfo& torch = info.torch;
  TorchFunction function;
  function.name = torch.operation.empty() ? info.name : torch.operation;
  function.module = torch.module.empty() ? in_capitals(info.name) : torch.module;
  function.formula = info.expression;
  function.source = info.source + ".";
  function.is_step = has_step_derivative(info);
  function.registered = "\"" + info.name + "\"";
  for (const solver::ParameterInfo& parameter : info.parameters) {
    const std::string& name = parameter.torch_name.empty() ? parameter.name : parameter.torch_name;
    // A word that is not called.
    const std::regex word("\\b" + parameter.name + "\\b(?!\\()");
    function.formula = std::regex_replace(function.formula, word, name);
    function.parameters.push_back({name, std::nullopt});
    if (torch.has_defaults) function.parameters.back().initial = double_literal(parameter.initial);
  }
  if (torch.choice.empty()) return function;
  const size_t equals = torch.choice.find('=');
  function.choice = torch.choice.substr(0, equals);
  function.choices = {{torch.choice.substr(equals + 1), info.name, function.formula}};
  return function;
}

/// Makes `other` a further choice of `function`.
void join(TorchFunction& function, const TorchFunction& other) {
  if (function.choice.empty() || function.choice != other.choice ||
      function.parameters.size() + other.parameters.size() > 0) {
    throw Error("the registry has two functions for the module " + function.module);
  }
  function.choices.push_back(other.choices.front());
}

}  // namespace

std::vector<TorchFunction> torch_functions(const std::vector<FunctionInfo>& functions) {
  std::map<std::string, TorchFunction> by_module;
  for (const FunctionInfo& info : functions) {
    TorchFunction function = torch_function(info);
    const auto [known, is_new] = by_module.try_emplace(function.module, function);
    if (!is_new) join(known->second, function);
  }
  std::vector<TorchFunction> all;
  for (auto& [module, function] : by_module) all.push_back(std::move(function));
  std::sort(all.begin(), all.end(),
            [](const TorchFunction& a, const TorchFunction& b) { return a.name < b.name; });
  return all;
}

TorchFunction own_torch_function(const std::string& name, const std::string& formula,
                                 const std::string& comment) {
  TorchFunction function;
  function.name = name;
  function.module = in_capitals(name);
  function.formula = formula;
  function.source = comment;
  function.registered = "generated::" + name + "::registered_name()";
  return function;
}

}  // namespace fewbit::codegen
