// Products of matrices and convolutions: the gradient of one factor is linear in the other.
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

// Weights by what a class adds to the loss of a small transformer (examples/text), an element and a
// squared error.
constexpr SavePolicy kLinearIn = {StorageKind::rotated, 1.0};

std::optional<Recipe> addmm(const EndedCall& call) {
  const at::Tensor bias = call.arguments.tensor("self");
  const at::Scalar beta = call.arguments["beta"].toScalar(),
                   alpha = call.arguments["alpha"].toScalar();
  Recipe recipe{kLinear, call.arguments.tensor("mat1"), nullptr};
  recipe.by_weight = [=](const at::Tensor& x, const at::Tensor& weight) {
    return at::addmm(bias, x, weight, beta, alpha);
  };
  recipe.is_by_rows = bias.dim() < 2 || bias.size(0) == 1;
  return recipe;
}

std::optional<Recipe> mm(const EndedCall& call) {
  Recipe recipe{kLinear, call.arguments.tensor("self"), nullptr};
  recipe.by_weight = [](const at::Tensor& x, const at::Tensor& weight) {
    return at::mm(x, weight);
  };
  recipe.is_by_rows = true;
  return recipe;
}

/// Windows of a convolution.
double window(const NamedArguments& arguments) {
  const at::Tensor weight = arguments.tensor("weight");
  return static_cast<double>(weight.numel()) / static_cast<double>(weight.size(0));
}

const std::vector<SavedArgument> kSavesAny = {{kAny, kLinearIn}},
                                 kSavesInput = {{"input", kLinearIn}};

const OperatorFamily kMatrices = {
    {.name = "addmm",
     .arguments = {"self", "mat1", "mat2", "beta", "alpha"},
     .saves = kSavesAny,
     .reads_pieces = true,
     .recomputation = {addmm, {"self"}, "mat2", /*in_place_too=*/false, kLinear},
     .effect = Effect::sums,
     .sensitivity = Sensitivity::layer},
    {.name = "mm",
     .arguments = {"self", "mat2"},
     .saves = kSavesAny,
     .reads_pieces = true,
     .recomputation = {mm, {}, "mat2", /*in_place_too=*/false, kLinear},
     .effect = Effect::sums,
     .sums_products = true,
     .sensitivity = Sensitivity::layer},
    {.name = "bmm", .saves = kSavesAny, .effect = Effect::sums, .sums_products = true},
    {.name = "baddbmm", .saves = kSavesAny, .effect = Effect::sums},
    {.name = "addbmm", .saves = kSavesAny, .effect = Effect::sums},
    {.name = "linear",
     .saves = kSavesAny,
     .effect = Effect::sums,
     .sensitivity = Sensitivity::layer},
    {.name = "mv", .saves = kSavesAny, .effect = Effect::sums, .sums_products = true},
    {.name = "addmv", .sums_products = true},
};
const OperatorFamily kOuterProducts(alike({"dot", "matmul", "einsum"},
                                          {.effect = Effect::sums, .sums_products = true}));

const OperatorFamily kConvolutions(alike({"convolution", "_convolution"},
                                         {.arguments = {"input", "weight"},
                                          .saves = kSavesInput,
                                          .has_channels = true,
                                          .reads_pieces = true,
                                          .effect = Effect::sums,
                                          .sensitivity = Sensitivity::layer,
                                          .fan_in = window}));
const OperatorFamily kOtherConvolutions = {{.name = "convolution_overrideable",
                                            .arguments = {"input", "weight"},
                                            .saves = kSavesInput,
                                            .has_channels = true}};
const OperatorFamily kDeviceConvolutions(alike({"cudnn_convolution", "miopen_convolution",
                                                "mkldnn_convolution"},
                                               {.has_channels = true}));
const OperatorFamily kOuterConvolutions(alike({"conv1d", "conv2d", "conv3d"},
                                              {.effect = Effect::sums}));

}  // namespace

}  // namespace fewbit::session
