// Sums, products, quotients, powers and copies.
#include "compression/operators/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include "compression/operators/dropout.hpp"

namespace fewbit::session {

namespace {

constexpr SavePolicy kProduct = {StorageKind::rotated, 1.0, false, Factor::product};
constexpr SavePolicy kSquare = {StorageKind::rotated, 1.0, false, Factor::square};

template <size_t N>
bool is_made_by(const at::Tensor& tensor, const std::array<std::string_view, N>& nodes) {
  const torch::autograd::Node* maker = torch::autograd::impl::grad_fn_unsafe(tensor);
  return maker != nullptr && std::ranges::find(nodes, maker->name()) != nodes.end();
}

bool shows_the_same(const at::Tensor& one, const at::Tensor& other) {
  if (one.is_same(other)) return true;
  return one.has_storage() && one.is_alias_of(other) && one.sizes() == other.sizes() &&
         one.strides() == other.strides() && one.storage_offset() == other.storage_offset();
}

/// Whether the gradient of a product's other factor is multiplied or divided further back, by what
/// falls where this one grows.
bool is_beside_a_scale(const SaveEvent& event, const at::Tensor& self, const at::Tensor& other) {
  if (event.argument < 0) return false;
  const bool is_self = event.argument == 0;
  const at::Tensor& mine = is_self ? self : other;
  const at::Tensor& beside = is_self ? other : self;
  return (beside.numel() == mine.numel() && scales_gradient(beside)) ||
         (beside.numel() > 1 && is_exponential(beside));
}

/// A square, as in norms by the root of the mean square: its gradient is linear in what it is of.
std::optional<SavePolicy> policy_of_product(const SaveEvent& event) {
  if (is_of_dropout(event)) return kMask;
  if (event.arguments == nullptr) return std::nullopt;
  const NamedArguments arguments(*find_operator_like("mul"), *event.arguments);
  if (!arguments["other"].isTensor()) return std::nullopt;
  const at::Tensor self = arguments.tensor("self"), other = arguments.tensor("other");
  if (shows_the_same(self, other)) return kSquare;
  return is_beside_a_scale(event, self, other) ? std::optional(SavePolicy()) : std::nullopt;
}

/// Higher powers multiply errors so that few bits are of no use.
std::optional<SavePolicy> policy_of_power(const SaveEvent& event) {
  if (event.arguments == nullptr || event.argument != 0) return std::nullopt;
  if (is_in_place(event.facts.operation)) return std::nullopt;
  const c10::IValue& exponent =
      NamedArguments(*find_operator_like("pow"), *event.arguments)["exponent"];
  if (!exponent.isScalar() || exponent.toScalar().isComplex()) return std::nullopt;
  const double n = exponent.toScalar().toDouble();
  if (n == 2.0) return kSquare;
  const bool is_low = n == 3.0 || n == 4.0;
  if (!is_low) return std::nullopt;
  // Its gradient has the factor x^(n-1), whose relative error is n-1 times that of x.
  return SavePolicy{StorageKind::rotated, (n - 1.0) * (n - 1.0), false, Factor::power};
}

/// What multiplies or divides all; nothing for other tensors.
std::optional<at::Scalar> number(const c10::IValue& value) {
  if (value.isScalar()) return value.toScalar();
  if (!value.isTensor() || !value.toTensor().defined()) return std::nullopt;
  const at::Tensor tensor = value.toTensor();
  const bool is_number = tensor.dim() == 0 && tensor.device().is_cpu() && !tensor.requires_grad();
  return is_number ? std::optional(tensor.item()) : std::nullopt;
}

std::optional<Recipe> product(const EndedCall& call) {
  const at::Tensor self = call.arguments.tensor("self");
  if (auto recipe = dropped_again(self, call.beside, 1.0)) return recipe;
  const std::optional<at::Scalar> factor = number(call.arguments["other"]);
  if (!factor || !self.defined()) return std::nullopt;
  return Recipe{kCopy, self,
                [factor = *factor](const at::Tensor& x) { return at::mul(x, factor); }};
}

std::optional<Recipe> quotient(const EndedCall& call) {
  const at::Tensor self = call.arguments.tensor("self");
  const std::optional<at::Scalar> divisor = number(call.arguments["other"]);
  if (!divisor || !self.defined()) return std::nullopt;
  return Recipe{kCopy, self,
                [divisor = *divisor](const at::Tensor& x) { return at::div(x, divisor); }};
}

/// Of another tensor, or of a bias, as a layer of three dimensions adds it, in place.
std::optional<Recipe> sum(const EndedCall& call) {
  const at::Tensor self = call.arguments.tensor("self"), other = call.arguments.tensor("other");
  const at::Scalar alpha = call.arguments["alpha"].toScalar();
  if (call.beside.addend) {
    Recipe recipe{kSum, self, [addend = call.beside.addend->tensor, alpha](const at::Tensor& x) {
                    return at::add(x, addend(), alpha);
                  }};
    recipe.beside = call.beside.addend->held;
    recipe.has_rows_beside = call.beside.addend->has_rows;
    recipe.of_rows = [rows = call.beside.addend->rows, alpha](const at::Tensor& x, int64_t first) {
      return at::add(x, rows(first, first + x.size(0)), alpha);
    };
    return recipe;
  }
  if (!other.defined()) return std::nullopt;
  Recipe recipe{kCopy, self,
                [other, alpha](const at::Tensor& x) { return at::add(x, other, alpha); }};
  recipe.is_by_rows = other.dim() < self.dim();
  return recipe;
}

std::optional<Recipe> clone(const EndedCall& call) {
  Recipe recipe{kCopy, call.arguments.tensor("self"), [](const at::Tensor& x) { return x; }};
  recipe.is_by_rows = true;
  return recipe;
}

const std::vector<std::string_view> kBoth = {"self", "other"};

const OperatorFamily kArithmetic = {
    {.name = "mul",
     .arguments = kBoth,
     .saves = {{kAny, kProduct}},
     .policy = policy_of_product,
     .holds_arguments = true,
     .recomputation = {product},
     .first_factor = "self",
     .is_scaling = true},
    {.name = "div",
     .arguments = kBoth,
     .recomputation = {quotient},
     .divisor = "other",
     .first_factor = "self",
     .is_scaling = true},
    {.name = "add",
     .arguments = {"self", "other", "alpha"},
     .recomputation = {sum, {"other"}, {}, /*in_place_too=*/true, /*kind=*/{}, /*addend=*/"other"}},
    {.name = "pow",
     .arguments = {"self", "exponent"},
     .policy = policy_of_power,
     .holds_arguments = true,
     .effect = Effect::raises},
    {.name = "addcmul", .arguments = {"self", "tensor1", "tensor2"}, .first_factor = "tensor1"},
    {.name = "addcdiv",
     .arguments = {"self", "tensor1", "tensor2"},
     .divisor = "tensor2",
     .first_factor = "tensor1"},
    {.name = "neg", .is_scaling = true},
};
const OperatorFamily kQuotients(alike({"divide", "true_divide", "xlogy", "special_xlogy",
                                       "special_xlog1py"},
                                      {.arguments = kBoth, .divisor = "other"}));
const OperatorFamily kRoundedQuotients(
    alike({"floor_divide", "remainder", "fmod"},
          {.arguments = kBoth, .divisor = "other", .is_choice = true}));

const OperatorFamily kCopies = {
    {.name = "clone", .arguments = {"self", "memory_format"}, .recomputation = {clone}}};
const OperatorFamily kViews(alike({"view", "reshape", "squeeze", "unsqueeze", "expand", "alias",
                                   "detach"},
                                  {.is_scaling = true}));

}  // namespace

bool scales_gradient(const at::Tensor& tensor) {
  constexpr std::array kNodes = std::to_array<std::string_view>(
      {"ExpBackward0", "Expm1Backward0", "Exp2Backward0", "ReciprocalBackward0", "RsqrtBackward0",
       "SqrtBackward0", "LogBackward0", "Log1PBackward0", "Log2Backward0", "Log10Backward0",
       "DivBackward0", "SoftmaxBackward0"});
  const torch::autograd::Node* maker = torch::autograd::impl::grad_fn_unsafe(tensor);
  if (maker == nullptr) return false;
  return is_made_by(tensor, kNodes) || maker->name().find("LogSoftmax") != std::string::npos;
}

bool is_exponential(const at::Tensor& tensor) {
  constexpr std::array kNodes = std::to_array<std::string_view>({"ExpBackward0", "Exp2Backward0"});
  return is_made_by(tensor, kNodes);
}

}  // namespace fewbit::session
