// Dropout saves its mask.
#include "compression/operators/dropout.hpp"

#include <ATen/ops/mul.h>

namespace fewbit::session {

namespace {

std::optional<Recipe> recipe(const EndedCall& call) {
  return dropped_again(call.arguments.tensor("input"), call.beside,
                       1.0 / (1.0 - call.arguments["p"].toDouble()));
}

const OperatorFamily kDropouts = {
    {.name = "native_dropout",
     .arguments = {"input", "p", "train"},
     .saves = {{kResult, kMask}},
     .recomputation = {recipe}},
};

}  // namespace

std::optional<Recipe> dropped_again(const at::Tensor& x, const Beside& beside, double scale) {
  if (!beside.mask) return std::nullopt;
  Recipe recipe{kDropout, x, [mask = beside.mask->tensor, scale](const at::Tensor& input) {
                  const at::Tensor y = at::mul(input, mask());
                  return scale == 1.0 ? y : at::mul(y, scale);
                }};
  recipe.beside = beside.mask->held;
  return recipe;
}

bool is_of_dropout(const SaveEvent& event) {
  const std::string_view caller = base_name(event.caller);
  return event.argument == 1 && event.facts.maker == SavedTensor::kNoGradient &&
         (caller == "aten::dropout" || caller == "aten::feature_dropout");
}

}  // namespace fewbit::session
