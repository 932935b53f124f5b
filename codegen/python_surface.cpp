// The Python text of what a user of the package sees of an activation.

#include <regex>

#include <fmt/format.h>

#include "codegen/torch_function.hpp"

namespace fewbit::codegen {

namespace {

/// torch's names for Python where libtorch's are others: "lambda" is a word of the language.
std::string python_name(const std::string& name) {
  if (name == "lambda") return "lambd";
  return name == "log_sigmoid" ? "logsigmoid" : name;
}

/// "alpha: float = 1.0, *, bits: int = 3".
std::string python_arguments(const TorchFunction& function) {
  std::string text;
  const auto add = [&](const std::string& argument) {
    text += (text.empty() ? "" : ", ") + argument;
  };
  for (const TorchParameter& parameter : function.parameters) {
    add(python_name(parameter.name) + ": float" +
        (parameter.initial ? " = " + *parameter.initial : ""));
  }
  if (!function.choice.empty()) {
    add(fmt::format("{}: str = \"{}\"", function.choice, function.choices.front().value));
  }
  if (!function.is_step) add("*, bits: int = 3");
  return text;
}

/// "\"elu\", bits, [alpha]": what a table and a module are made of.
std::string table_arguments(const TorchFunction& function) {
  std::string name = function.registered;
  if (!function.choice.empty()) {
    std::string pairs;
    for (const auto& [value, registered, formula] : function.choices) {
      pairs += fmt::format("{}\"{}\": \"{}\"", pairs.empty() ? "" : ", ", value, registered);
    }
    name = fmt::format("chosen(\"{0}\", {0}, {{{1}}})", function.choice, pairs);
  }
  std::string values;
  for (const TorchParameter& parameter : function.parameters) {
    values += (values.empty() ? ", [" : ", ") + python_name(parameter.name);
  }
  return name + (function.is_step ? ", 1" : ", bits") + values + (values.empty() ? "" : "]");
}

/// """f(x) = x*sigmoid(beta*x). Elfwing et al. 2017.""", at the margin of a body.
std::string python_comment(const TorchFunction& function) {
  std::string text = "    \"\"\"f(x) = " + function.formula;
  for (size_t i = 1; i < function.choices.size(); ++i) {
    text += fmt::format(",\n    or {} where {} is \"{}\"", function.choices[i].formula,
                        function.choice, function.choices[i].value);
  }
  for (const TorchParameter& parameter : function.parameters) {
    const std::regex word("\\b" + parameter.name + "\\b");
    text = std::regex_replace(text, word, python_name(parameter.name));
  }
  return text + ".\n\n    " + function.source + "\n    \"\"\"\n";
}

/// "alpha={self.alpha}, bits={self.bits}", and the lines that set them.
std::pair<std::string, std::string> options_text(const TorchFunction& function) {
  std::string shown, set;
  const auto add = [&](const std::string& name) {
    shown += (shown.empty() ? "" : ", ") + name + "={self." + name + "!r}";
    set += fmt::format("        self.{0} = {0}\n", name);
  };
  for (const TorchParameter& parameter : function.parameters) add(python_name(parameter.name));
  if (!function.choice.empty()) add(function.choice);
  if (!function.is_step) shown += std::string(shown.empty() ? "" : ", ") + "bits={self.bits}";
  return {shown, set};
}

}  // namespace

std::string python_name_of(const TorchFunction& function) {
  return python_name(function.name);
}

std::string python_function(const TorchFunction& function) {
  const std::string arguments = python_arguments(function);
  return fmt::format(
      "\ndef {}(x: torch.Tensor{}) -> torch.Tensor:\n{}    return activation(x, "
      "Table.standard({}))\n",
      python_name(function.name), arguments.empty() ? "" : ", " + arguments,
      python_comment(function), table_arguments(function));
}

std::string python_module(const TorchFunction& function) {
  const auto [shown, set] = options_text(function);
  const std::string arguments = python_arguments(function);
  return fmt::format(
      "\nclass {}(Activation):\n{}\n    def __init__(self{}) -> None:\n        "
      "super().__init__({})\n{}\n    def extra_repr(self) -> str:\n        return {}\"{}\"\n",
      function.module, python_comment(function), arguments.empty() ? "" : ", " + arguments,
      table_arguments(function), set, shown.empty() ? "" : "f", shown);
}

}  // namespace fewbit::codegen
