#pragma once

#include <optional>
#include <string>
#include <vector>

#include "functions/registry.hpp"

namespace fewbit::codegen {

/// A parameter by libtorch's name, with the text of its default, unless it has to be given.
struct TorchParameter {
  std::string name;
  std::optional<std::string> initial;
};

/// What a libtorch user sees of one activation: a function in namespace fewbit and a module in
/// fewbit::nn.
struct TorchFunction {
  std::string name;     ///< "log_sigmoid"
  std::string module;   ///< "LogSigmoid"
  std::string formula;  ///< f(x)
  std::string source;   ///< of the formula, or what else there is to say
  std::vector<TorchParameter> parameters;
  bool is_step = false;    ///< one bit is exact: bits are not asked for
  std::string registered;  ///< an expression for the registry's name, "\"elu\"", without a choice
  /// An option that says which function of the registry it is, "approximate"; empty for most.
  std::string choice;
  /// Its values, first the default.
  struct Choice {
    std::string value;
    std::string function;  ///< of the registry
    std::string formula;
  };
  std::vector<Choice> choices;
};

/// The registry's functions as libtorch's users know them, ordered by name. Throws Error for two of
/// one module that do not differ by a choice.
std::vector<TorchFunction> torch_functions(const std::vector<solver::FunctionInfo>& functions);

/// A function of one's own, registered when the program starts. Throws Error where its name gives
/// none for a module.
TorchFunction own_torch_function(const std::string& name, const std::string& formula,
                                 const std::string& comment);

/// "at::Tensor elu(const at::Tensor& x, Bits bits, double alpha = 1.0);", comment before it.
std::string function_declaration(const TorchFunction& function);
/// Its definition by the table that is standard for the bits.
std::string function_definition(const TorchFunction& function);

/// struct ELUOptions. `first`: lines that it begins with.
std::string options_struct(const TorchFunction& function, const std::string& first = "");
/// What of it is defined apart: nothing but for a choice.
std::string options_definition(const TorchFunction& function);

/// The same in Python: the function's name, "def elu(x: torch.Tensor, ...", "class
/// ELU(Activation)".
std::string python_name_of(const TorchFunction& function);
std::string python_function(const TorchFunction& function);
std::string python_module(const TorchFunction& function);

/// FEWBIT_MODULE, FEWBIT_OPTION, FEWBIT_OPERATION and FEWBIT_WRITTEN lines: the same for programs.
std::string torch_registry(const std::vector<solver::FunctionInfo>& functions);

}  // namespace fewbit::codegen
