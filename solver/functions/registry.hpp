#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expression/expression.hpp"
#include "table/table.hpp"

namespace fewbit::solver {

struct ParameterInfo {
  std::string name;
  double initial;               ///< the default
  double lo;                    ///< smallest accepted value
  double hi;                    ///< largest accepted value
  bool lo_open = false;         ///< lo itself is not accepted
  std::string torch_name = {};  ///< torch::nn's, where it differs
};

/// What libtorch's users call a function: only what does not follow from the registry's own names.
struct TorchInfo {
  std::string module = {};     ///< "GELU"; else the name in capitals, my_act: MyAct
  std::string operation = {};  ///< "log_sigmoid" for aten::log_sigmoid; empty: libtorch has none
  std::string choice = {};     ///< "approximate=tanh": which of the operation's functions it is
  std::string written = {};    ///< what its users write where libtorch has none, of x
  bool has_defaults = true;    ///< its parameters may be left out
};

/// One activation: a line of the registry.
struct FunctionInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<ParameterInfo> parameters;
  std::string expression;
  std::string source;  ///< where the definition comes from
  TorchInfo torch = {};
};

/// The only list of built-in activations, in a fixed order.
const std::vector<FunctionInfo>& registry();

/// By name or alias; throws Error naming the nearest names otherwise.
const FunctionInfo& find_function(std::string_view name);

/// The built-in activations by their names and aliases, for the expressions that users write.
const Library& function_library();

/// Reads "elu", "elu:alpha=0.5" or "swish:beta=2"; all parameters get values, defaults included.
/// Throws Error for an unknown function or parameter, or a value out of range (constraints between
/// parameters included: hardtanh's min < max).
FunctionSpec parse_function(std::string_view text);

/// A user's own function; throws Error when `name` is no identifier or a registered name, or the
/// expression does not parse. It may call the registry's functions: gelu(2*x), elu(x, alpha=0.5);
/// their bodies stand in the text of the result.
FunctionSpec custom_function(std::string_view name, std::string_view expression);

/// The expression of `spec` with its parameters' values, and of a line with its defaults.
Expression expression_of(const FunctionSpec& spec);
Expression expression_of(const FunctionInfo& info);

}  // namespace fewbit::solver
