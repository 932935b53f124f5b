// Softmax and the losses.
#include <ATen/ops/softmax.h>

#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

// The gradient is linear in log_softmax's probabilities, in softmax's it is quadratic.
constexpr SavePolicy kLinearInClasses = {StorageKind::probabilities, 1.0, false, Factor::product},
                     kQuadraticIn = {StorageKind::probabilities, 16.0, false, Factor::probability};

std::optional<Recipe> probabilities(const SaveEvent& event) {
  const NamedArguments arguments(*find_operator(kLogSoftmax), *event.arguments);
  return Recipe{kSoftmax, arguments.tensor("x").tensor_data(),
                [dim = arguments["dim"].toInt(), type = event.facts.dtype](const at::Tensor& x) {
                  return at::softmax(x, dim, type);
                }};
}

const OperatorFamily kSoftmaxes = {
    {.name = "log_softmax",
     .library = "fewbit",
     .arguments = {"x", "dim", "half_to_float"},
     .saves = {{kResult, kLinearInClasses}},
     .holds_arguments = true,
     .recipe_of_saved = probabilities,
     .effect = Effect::selects,
     .sensitivity = Sensitivity::loss},
    {.name = "_softmax",
     .arguments = {"self", "dim", "half_to_float"},
     .saves = {{kResult, kQuadraticIn}},
     .holds_arguments = true,
     .effect = Effect::selects,
     .sums_to_one = true},
    {.name = "_safe_softmax",  // of attention by its formula, where rows may be masked whole
     .arguments = {"self", "dim", "dtype"},
     .saves = {{kResult, kQuadraticIn}},
     .holds_arguments = true,
     .effect = Effect::selects,
     .sums_to_one = true},
};
const OperatorFamily kOuterSoftmaxes(alike({"softmax", "_log_softmax", "logsumexp",
                                            "cross_entropy_loss"},
                                           {.effect = Effect::selects}));

const OperatorFamily kLikelihoods = {
    {.name = "nll_loss_forward",
     .arguments = {"self"},
     .saves = {{"self", kSizes}},
     .effect = Effect::sums},
    {.name = "nll_loss2d_forward", .arguments = {"self"}, .saves = {{"self", kSizes}}}};
const OperatorFamily kOuterLikelihoods(alike({"nll_loss", "nll_loss_nd"},
                                             {.effect = Effect::sums}));

const OperatorFamily kOthers(alike({"binary_cross_entropy", "poisson_nll_loss", "special_entr"},
                                   {.effect = Effect::divides}));

}  // namespace

}  // namespace fewbit::session
