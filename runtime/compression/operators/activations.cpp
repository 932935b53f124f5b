// A few-bit activation saves codes of its derivative.
#include <string>

#include "compression/operators/operator.hpp"
#include "ops/activation.hpp"
#include "ops/activation_arguments.hpp"
#include "ops/integers.hpp"

namespace fewbit::session {

namespace {

constexpr SavePolicy kCodes = {StorageKind::codes};

/// f(x) = f'(x) x, and its codes are x > 0.
bool has_codes_of_sign(std::string_view function) {
  return function == "relu" || function == "leaky_relu";
}

std::optional<Recipe> value(const EndedCall& call) {
  const at::Tensor x = call.arguments.tensor("x");
  const std::string function = call.arguments["function"].toStringRef();
  if (!has_codes_of_sign(function)) {
    return Recipe{kActivationValue, x,
                  [function, parameters = call.arguments["parameters"].toDoubleVector()](
                      const at::Tensor& again) {
                    return ops::activation_value(again, function, parameters);
                  }};
  }
  const std::optional<Again>& codes = call.beside.codes;
  if (!codes || x.strides() != call.result(0).strides()) return std::nullopt;
  Recipe recipe{
      kRelu, x,
      [codes = codes->tensor, levels = call.arguments["levels"].toDoubleVector()](
          const at::Tensor& again) { return ops::activation_backward(again, codes(), levels); }};
  recipe.beside = codes->held;
  return recipe;
}

std::optional<Recipe> sign(const SaveEvent& event) {
  const NamedArguments arguments(*find_operator(kActivation), *event.arguments);
  if (!has_codes_of_sign(arguments["function"].toStringRef())) return std::nullopt;
  return Recipe{kSign, arguments.tensor("x").tensor_data(),
                [](const at::Tensor& x) { return ops::sign_encode(x); }};
}

const OperatorFamily kActivations = {
    {.name = "activation",
     .library = "fewbit",
     .arguments = {"x", "function", "parameters", "thresholds", "codes", "levels", "even", "seed",
                   "in_place"},
     .saves = {{kAny, kCodes}},
     .recomputation = {value},
     .recipe_of_saved = sign,
     .effect = Effect::curves},
};

}  // namespace

}  // namespace fewbit::session
