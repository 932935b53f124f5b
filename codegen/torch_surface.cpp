// The C++ text of what a libtorch user sees of an activation.

#include <fmt/format.h>

#include "codegen/literal.hpp"
#include "codegen/templates.hpp"
#include "codegen/torch_function.hpp"

namespace fewbit::codegen {

namespace {

constexpr size_t kWidth = 100;

/// "name(first, second)", broken between arguments where it is too long.
std::string call_text(const std::string& name, const std::vector<std::string>& arguments,
                      const std::string& end) {
  std::string text = name + "(";
  const std::string margin(text.size(), ' ');
  size_t column = text.size();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool is_last = i + 1 == arguments.size();
    const std::string item = arguments[i] + (is_last ? ")" + end : ",");
    if (i > 0 && column + 1 + item.size() > kWidth) {
      text += "\n" + margin;
      column = margin.size();
    } else if (i > 0) {
      text += ' ';
      ++column;
    }
    text += item;
    column += item.size();
  }
  return text;
}

std::vector<std::string> arguments_of(const TorchFunction& function, bool with_defaults) {
  std::vector<std::string> arguments{"const at::Tensor& x"};
  if (!function.is_step) arguments.emplace_back("Bits bits");
  for (const TorchParameter& parameter : function.parameters) {
    arguments.push_back("double " + parameter.name);
    if (with_defaults && parameter.initial) arguments.back() += " = " + *parameter.initial;
  }
  if (!function.choice.empty()) {
    arguments.push_back("const std::string& " + function.choice);
    if (with_defaults) arguments.back() += " = \"" + function.choices.front().value + "\"";
  }
  return arguments;
}

/// chosen_function("fewbit::gelu", "approximate", approximate, {{"none", "gelu"}, ...});
std::string choice_call(const std::string& start, const TorchFunction& function,
                        const std::string& caller, const std::string& variable) {
  std::string pairs;
  for (const auto& [value, name, formula] : function.choices) {
    pairs += fmt::format("{}{{\"{}\", \"{}\"}}", pairs.empty() ? "" : ", ", value, name);
  }
  return call_text(
      "  " + start + "chosen_function",
      {"\"" + caller + "\"", "\"" + function.choice + "\"", variable, "{" + pairs + "}"}, ";\n");
}

std::string constructor_text(const TorchFunction& function) {
  std::string initializers;
  std::vector<std::string> arguments;
  for (const TorchParameter& parameter : function.parameters) {
    if (parameter.initial) return "";
    arguments.push_back("double " + parameter.name);
    initializers +=
        fmt::format("{}{}_({})", initializers.empty() ? "" : ", ", parameter.name, parameter.name);
  }
  if (arguments.empty()) return "";
  return call_text("  " + function.module + "Options", arguments, " : " + initializers + " {}\n");
}

std::string members_text(const TorchFunction& function) {
  std::string text = constructor_text(function);
  for (const TorchParameter& parameter : function.parameters) {
    text += "  TORCH_ARG(double, " + parameter.name + ")";
    text += parameter.initial ? " = " + *parameter.initial + ";\n" : ";\n";
  }
  if (!function.choice.empty()) {
    std::string values;
    for (const auto& [value, name, formula] : function.choices) {
      values += (values.empty() ? "\"" : " or \"") + value + "\"";
    }
    text += "  /// " + values + ".\n  TORCH_ARG(std::string, " + function.choice + ") = \"" +
            function.choices.front().value + "\";\n";
  }
  // TORCH_ARG ends with private members.
  return function.parameters.empty() && function.choice.empty() ? text : text + "\n public:\n";
}

/// "/// f(x) = x*sigmoid(beta*x). Elfwing et al. 2017."
std::string comment_text(const TorchFunction& function) {
  std::string text = "/// f(x) = " + function.formula;
  for (size_t i = 1; i < function.choices.size(); ++i) {
    text += fmt::format("\n///     or {} where {} is \"{}\"", function.choices[i].formula,
                        function.choice, function.choices[i].value);
  }
  text += '.';
  const std::string line = text + " " + function.source;
  const bool fits = line.size() <= kWidth && line.find('\n') == std::string::npos;
  return (fits ? line : text + "\n/// " + function.source) + "\n";
}

/// "\"tanh\"", or nothing.
std::string choice_literal(const solver::TorchInfo& torch) {
  if (torch.choice.empty()) return "";
  return "\"" + torch.choice.substr(torch.choice.find('=') + 1) + "\"";
}

}  // namespace

std::string function_declaration(const TorchFunction& function) {
  return comment_text(function) +
         call_text("at::Tensor " + function.name, arguments_of(function, true), ";\n");
}

std::string function_definition(const TorchFunction& function) {
  std::string text =
      call_text("at::Tensor " + function.name, arguments_of(function, false), " {\n");
  std::string name = function.registered;
  if (!function.choice.empty()) {
    name = "name";
    text += choice_call("const std::string name = ", function, "fewbit::" + function.name,
                        function.choice);
  }
  std::string parameters;
  for (const TorchParameter& parameter : function.parameters) {
    parameters += (parameters.empty() ? ", {" : ", ") + parameter.name;
  }
  if (!parameters.empty()) parameters += '}';
  return text + "  return activation(x, Table::standard(" + name +
         (function.is_step ? ", Bits{1}" : ", bits") + parameters + "));\n}\n";
}

std::string options_struct(const TorchFunction& function, const std::string& first) {
  std::string parameters;
  for (const TorchParameter& parameter : function.parameters) {
    parameters += fmt::format("{}{{\"{}\", {}_}}", parameters.empty() ? "" : ", ", parameter.name,
                              parameter.name);
  }
  const std::string body =
      function.choice.empty() ? " { return " + function.registered + "; }" : ";";
  return render("torch_options.in", {{"MODULE", function.module},
                                     {"MEMBERS", first + members_text(function)},
                                     {"FUNCTION", body},
                                     {"PARAMETERS", parameters}});
}

std::string options_definition(const TorchFunction& function) {
  if (function.choice.empty()) return "";
  return "std::string " + function.module + "Options::function() const {\n" +
         choice_call("return ", function, "fewbit::nn::" + function.module, function.choice + "_") +
         "}\n";
}

std::string torch_registry(const std::vector<solver::FunctionInfo>& functions) {
  std::string text;
  for (const TorchFunction& function : torch_functions(functions)) {
    text += "FEWBIT_MODULE(" + function.module + ")\n";
    for (const TorchParameter& parameter : function.parameters) {
      text += "FEWBIT_OPTION(" + function.module + ", " + parameter.name + ")\n";
    }
  }
  for (const solver::FunctionInfo& info : functions) {
    const solver::TorchInfo& torch = info.torch;
    const std::string choice = choice_literal(torch);
    std::string values;
    for (const auto& parameter : info.parameters)
      values += ", " + double_literal(parameter.initial);
    std::string written = torch.written;
    if (!torch.operation.empty()) {
      text += fmt::format("FEWBIT_OPERATION({}, {}, {}{})\n", info.name, torch.operation,
                          choice.empty() ? "\"\"" : choice, values);
      written = fmt::format("at::{}(x{}{})", torch.operation, choice.empty() ? "" : ", " + choice,
                            torch.has_defaults ? "" : values);
    }
    if (!written.empty()) text += fmt::format("FEWBIT_WRITTEN({}, {})\n", info.name, written);
  }
  return text;
}

}  // namespace fewbit::codegen
