// A few-bit activation saves codes of its derivative.
#include <bit>
#include <string>
#include <vector>

#include "compression/operators/operator.hpp"
#include "ops/activation.hpp"
#include "ops/activation_arguments.hpp"
#include "ops/integers.hpp"
#include "ops/layout.hpp"

namespace fewbit::session {

namespace {

constexpr SavePolicy kCodes = {StorageKind::codes};

/// f(x) = f'(x) x, and its codes are x > 0.
bool has_codes_of_sign(std::string_view function) {
  return function == "relu" || function == "leaky_relu";
}

/// Streams of codes are made of words of so many bits.
constexpr int64_t kStreamBits = 128;

int64_t bits_of(const std::vector<double>& levels) {
  return std::bit_width(levels.size() - 1);
}

std::optional<Recipe> value(const EndedCall& call) {
  const at::Tensor x = call.arguments.tensor("x");
  const std::string function = call.arguments["function"].toStringRef();
  if (!has_codes_of_sign(function)) {
    Recipe recipe{kActivationValue, x,
                  [function, parameters = call.arguments["parameters"].toDoubleVector()](
                      const at::Tensor& again) {
                    return ops::activation_value(again, function, parameters);
                  }};
    recipe.is_by_rows = true;
    return recipe;
  }
  const std::optional<Again>& codes = call.beside.codes;
  if (!codes || x.strides() != call.result(0).strides()) return std::nullopt;
  const std::vector<double> levels = call.arguments["levels"].toDoubleVector();
  Recipe recipe{kRelu, x, [codes = codes->tensor, levels](const at::Tensor& again) {
                  return ops::activation_backward(again, codes(), levels);
                }};
  recipe.beside = codes->held;
  // A piece of the codes is a stream of its own where it begins and ends with whole words of it.
  const int64_t row_bits =
      x.dim() == 0 || x.size(0) == 0 ? 1 : x.numel() / x.size(0) * bits_of(levels);
  if (row_bits % kStreamBits == 0) {
    recipe.of_rows = [codes = codes->tensor, levels, row_bits](const at::Tensor& rows,
                                                               int64_t first) {
      const at::Tensor part =
          ops::slice_of(codes(), first * row_bits / 8, (first + rows.size(0)) * row_bits / 8);
      return ops::activation_backward(rows, part, levels);
    };
  }
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
                   "in_place", "codes_first"},
     .saves = {{kAny, kCodes}},
     .recomputation = {value},
     .recipe_of_saved = sign,
     .effect = Effect::curves},
};

}  // namespace

}  // namespace fewbit::session
