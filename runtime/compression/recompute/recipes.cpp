#include "compression/recompute/recipes.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <ATen/ops/add.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/softmax.h>

#include "compression/rules.hpp"
#include "ops/activation.hpp"
#include "ops/activation_arguments.hpp"
#include "ops/integers.hpp"

namespace fewbit::session {

namespace {

constexpr std::string_view kRelu = "relu", kDropout = "dropout", kSum = "sum",
                           kActivation = "activation", kSoftmax = "softmax";

constexpr std::string_view kFewBitActivation = "fewbit::activation",
                           kNativeDropout = "aten::native_dropout";

using Values = std::vector<c10::IValue>;

/// Undefined where the value is none.
at::Tensor tensor_of(const c10::IValue& value) {
  return value.isTensor() ? value.toTensor() : at::Tensor();
}

/// Without the graph, which a recipe must not hold; versions go on being the tensors' own.
Values detached(const Values& values) {
  Values result = values;
  for (c10::IValue& value : result) {
    const at::Tensor tensor = tensor_of(value);
    if (tensor.defined()) value = tensor.detach();
  }
  return result;
}

/// [C] or [N, C] as it stands beside x [N, C, ...].
at::Tensor by_channel(const at::Tensor& numbers, const at::Tensor& x) {
  std::vector<int64_t> sizes(static_cast<size_t>(x.dim()), 1);
  sizes[1] = numbers.size(-1);
  if (numbers.dim() == 2) sizes[0] = numbers.size(0);
  return numbers.view(sizes);
}

/// x * scale + shift for every channel, of the statistics' type.
at::Tensor scaled(const at::Tensor& x, const at::Tensor& mean, at::Tensor scale,
                  const at::Tensor& weight, const at::Tensor& bias) {
  if (weight.defined()) scale = at::mul(scale, weight);
  at::Tensor shift = at::mul(mean, scale).neg_();
  if (bias.defined()) shift = shift.add(bias);
  return at::addcmul(by_channel(shift, x), x, by_channel(scale, x));
}

/// (x - mean) * scale + shift for every channel, shift where defined: what a batch norm is in
/// evaluation, in one pass, with the deviation in its weight.
at::Tensor normalised(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& scale,
                      const at::Tensor& shift) {
  return std::get<0>(
      at::native_batch_norm(x, scale, shift, mean, at::ones_like(mean), false, 0.0, 0.0));
}

std::optional<Recipe> layer_norm(const Values& arguments, const Values& results) {
  const at::Tensor weight = tensor_of(arguments[2]), bias = tensor_of(arguments[3]);
  const at::Tensor mean = results[1].toTensor(), deviation = results[2].toTensor();
  const auto type = results[0].toTensor().scalar_type();
  return Recipe{kNorm,
                arguments[0].toTensor(),
                [=](const at::Tensor& x) {
                  const int64_t rows = mean.numel();
                  at::Tensor y = normalised(x.to(mean.scalar_type()).reshape({1, rows, -1}),
                                            mean.reshape(rows), deviation.reshape(rows), {})
                                     .view(x.sizes());
                  if (weight.defined() && bias.defined()) {
                    at::addcmul_out(y, bias, y, weight);
                  } else {
                    if (weight.defined()) y.mul_(weight);
                    if (bias.defined()) y.add_(bias);
                  }
                  return y.to(type);
                },
                {mean, deviation}};
}

std::optional<Recipe> rms_norm(const Values& arguments, const Values& results) {
  const at::Tensor weight = tensor_of(arguments[2]);
  const at::Tensor deviation = results[1].toTensor();
  const auto type = results[0].toTensor().scalar_type();
  return Recipe{kNorm,
                arguments[0].toTensor(),
                [=](const at::Tensor& x) {
                  at::Tensor y = at::mul(x, deviation);
                  if (weight.defined()) y.mul_(weight);
                  return y.to(type);
                },
                {deviation}};
}

/// In training: else it has running statistics, which may change until backward.
std::optional<Recipe> batch_norm(const Values& arguments, const Values& results) {
  if (!arguments[5].toBool()) return std::nullopt;
  const at::Tensor weight = tensor_of(arguments[1]), bias = tensor_of(arguments[2]);
  const at::Tensor mean = results[1].toTensor(), deviation = results[2].toTensor();
  const auto type = results[0].toTensor().scalar_type();
  return Recipe{kNorm,
                arguments[0].toTensor(),
                [=](const at::Tensor& x) {
                  const at::Tensor scale =
                      weight.defined() ? at::mul(deviation, weight) : deviation;
                  const at::Tensor shift = bias.defined() ? bias.to(mean.scalar_type()) : bias;
                  return normalised(x, mean, scale, shift).to(type);
                },
                {mean, deviation}};
}

std::optional<Recipe> group_norm(const Values& arguments, const Values& results) {
  const at::Tensor weight = tensor_of(arguments[1]), bias = tensor_of(arguments[2]);
  const at::Tensor mean = results[1].toTensor(), deviation = results[2].toTensor();
  const int64_t channels = arguments[4].toInt() / mean.size(1);  // of a group
  const auto type = results[0].toTensor().scalar_type();
  return Recipe{kNorm,
                arguments[0].toTensor(),
                [=](const at::Tensor& x) {
                  return scaled(x, mean.repeat_interleave(channels, 1),
                                deviation.repeat_interleave(channels, 1), weight, bias)
                      .to(type);
                },
                {mean, deviation}};
}

std::optional<Recipe> addmm(const Values& arguments, const Values& /*results*/) {
  const at::Tensor bias = arguments[0].toTensor(), weight = arguments[2].toTensor();
  const at::Scalar beta = arguments[3].toScalar(), alpha = arguments[4].toScalar();
  return Recipe{kLinear, arguments[1].toTensor(),
                [=](const at::Tensor& x) { return at::addmm(bias, x, weight, beta, alpha); }};
}

std::optional<Recipe> mm(const Values& arguments, const Values& /*results*/) {
  const at::Tensor weight = arguments[1].toTensor();
  return Recipe{kLinear, arguments[0].toTensor(),
                [=](const at::Tensor& x) { return at::mm(x, weight); }};
}

std::optional<Recipe> clone(const Values& arguments, const Values& /*results*/) {
  return Recipe{kCopy, arguments[0].toTensor(), [](const at::Tensor& x) { return x; }};
}

/// What multiplies or divides all; nothing for other tensors.
std::optional<at::Scalar> number(const c10::IValue& value) {
  if (value.isScalar()) return value.toScalar();
  const at::Tensor tensor = tensor_of(value);
  const bool is_number = tensor.defined() && tensor.dim() == 0 && tensor.device().is_cpu();
  return is_number && !tensor.requires_grad() ? std::optional(tensor.item()) : std::nullopt;
}

std::optional<Recipe> mul(const Values& arguments, const Values& /*results*/) {
  const std::optional<at::Scalar> factor = number(arguments[1]);
  if (!factor || !arguments[0].isTensor()) return std::nullopt;
  return Recipe{kCopy, arguments[0].toTensor(),
                [factor = *factor](const at::Tensor& x) { return at::mul(x, factor); }};
}

std::optional<Recipe> div(const Values& arguments, const Values& /*results*/) {
  const std::optional<at::Scalar> factor = number(arguments[1]);
  if (!factor || !arguments[0].isTensor()) return std::nullopt;
  return Recipe{kCopy, arguments[0].toTensor(),
                [factor = *factor](const at::Tensor& x) { return at::div(x, factor); }};
}

/// A bias, as a layer of three dimensions adds it, in place.
std::optional<Recipe> add(const Values& arguments, const Values& /*results*/) {
  const at::Tensor bias = tensor_of(arguments[1]);
  if (!bias.defined()) return std::nullopt;
  return Recipe{kCopy, tensor_of(arguments[0]),
                [bias, alpha = arguments[2].toScalar()](const at::Tensor& x) {
                  return at::add(x, bias, alpha);
                }};
}

/// Of a few-bit activation f: f(x) = f'(x) x, and its codes are x > 0.
bool has_codes_of_sign(const Values& arguments) {
  const c10::string_view function = arguments[ops::kFunctionArgument].toStringRef();
  return function == "relu" || function == "leaky_relu";
}

std::optional<Recipe> activation(const Values& arguments, const at::Tensor& y,
                                 const std::optional<Again>& codes) {
  const at::Tensor x = arguments[0].toTensor();
  const std::string function = arguments[1].toStringRef();
  if (has_codes_of_sign(arguments)) {
    if (!codes || x.strides() != y.strides()) return std::nullopt;
    Recipe recipe{
        kRelu, x,
        [codes = codes->tensor, levels = arguments[5].toDoubleVector()](const at::Tensor& again) {
          return ops::activation_backward(again, codes(), levels);
        }};
    recipe.beside = codes->held;
    return recipe;
  }
  return Recipe{kActivation, x,
                [function, parameters = arguments[2].toDoubleVector()](const at::Tensor& again) {
                  return ops::activation_value(again, function, parameters);
                }};
}

/// As torch drops on a CPU, times a tensor of zeros and one other number, or with a kernel of its
/// own, whose mask is what it kept.
std::optional<Recipe> dropout(const RecordedCall& call, const Again& mask) {
  double scale = 1.0;
  if (call.operation == kNativeDropout) scale = 1.0 / (1.0 - call.arguments[1].toDouble());
  Recipe recipe{kDropout, call.arguments[0].toTensor().detach(),
                [mask = mask.tensor, scale](const at::Tensor& x) {
                  const at::Tensor y = at::mul(x, mask());
                  return scale == 1.0 ? y : at::mul(y, scale);
                }};
  recipe.beside = mask.held;
  return recipe;
}

std::optional<Recipe> sum(const RecordedCall& call, const Again& addend) {
  Recipe recipe{kSum, call.arguments[0].toTensor().detach(),
                [addend = addend.tensor, alpha = call.arguments[2].toScalar()](
                    const at::Tensor& x) { return at::add(x, addend(), alpha); }};
  recipe.beside = addend.held;
  return recipe;
}

struct Rule {
  std::string_view operation;
  size_t arguments;              ///< so many: overloads of the name may have others
  std::vector<size_t> copied;    ///< of these, which have to be the model's, and small
  std::optional<size_t> weight;  ///< the model's too, of any size
  std::optional<Recipe> (*recipe)(const Values& arguments, const Values& results);
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"aten::native_layer_norm", 5, {2, 3}, {}, layer_norm},
      {"aten::_fused_rms_norm", 4, {2}, {}, rms_norm},
      {"aten::native_batch_norm", 8, {1, 2}, {}, batch_norm},
      {"aten::cudnn_batch_norm", 8, {1, 2}, {}, batch_norm},
      {"aten::native_group_norm", 8, {1, 2}, {}, group_norm},
      {"aten::addmm", 5, {0}, 2, addmm},
      {"aten::mm", 2, {}, 1, mm},
      {"aten::clone", 2, {}, {}, clone},
      {"aten::mul", 2, {}, {}, mul},
      {"aten::div", 2, {}, {}, div},
      {"aten::add", 3, {1}, {}, add},
      {"aten::add_", 3, {1}, {}, add},
  };
  return all;
}

/// A copied parameter may be that small beside the result.
constexpr int64_t kFewer = 16;

std::optional<Recipe> recipe_by(const Rule& rule, const RecordedCall& call,
                                const IsOfModel& is_of_model, const CopyOf& copy_of) {
  Values arguments = detached(call.arguments);
  std::vector<at::Tensor> copies;
  for (const size_t index : rule.copied) {
    const at::Tensor parameter = tensor_of(call.arguments[index]);
    if (!parameter.defined()) continue;
    if (!is_of_model(parameter)) return std::nullopt;
    if (parameter.numel() * kFewer > call.results[0].toTensor().numel()) return std::nullopt;
    copies.push_back(copy_of(parameter));
    arguments[index] = copies.back();
  }
  at::Tensor weight;
  if (rule.weight) {
    weight = tensor_of(arguments[*rule.weight]);
    if (!is_of_model(tensor_of(call.arguments[*rule.weight]))) return std::nullopt;
  }
  std::optional<Recipe> recipe = rule.recipe(arguments, detached(call.results.vec()));
  if (!recipe) return std::nullopt;
  recipe->weight = std::move(weight);
  recipe->copies = std::move(copies);
  return recipe;
}

}  // namespace

const std::vector<std::string_view>& recompute_kinds() {
  static const std::vector<std::string_view> names = {
      kCopy, kNorm, kRelu, kSign, kDropout, kSum, kActivation, kLinear, kSoftmax};
  return names;
}

bool may_be_recomputed(std::string_view operation) {
  constexpr std::array kOthers = {kFewBitActivation, kLogSoftmax, kNativeDropout};
  if (std::ranges::find(kOthers, operation) != kOthers.end()) return true;
  return std::ranges::any_of(rules(),
                             [&](const Rule& rule) { return rule.operation == operation; });
}

bool is_sum(const RecordedCall& call, const IsOfModel& is_of_model) {
  if (call.operation != "aten::add" && call.operation != "aten::add_") return false;
  if (call.arguments.size() != 3) return false;
  const at::Tensor result = tensor_of(call.results[0]), one = tensor_of(call.arguments[0]),
                   other = tensor_of(call.arguments[1]);
  if (!one.defined() || !other.defined()) return false;
  return one.sizes() == result.sizes() && other.sizes() == result.sizes() && !is_of_model(other);
}

std::optional<Recipe> recipe_of(const RecordedCall& call, const Beside& beside,
                                const IsOfModel& is_of_model, const CopyOf& copy_of) {
  if (call.operation == kFewBitActivation) {
    return activation(detached(call.arguments), call.results[0].toTensor(), beside.codes);
  }
  if (beside.mask) return dropout(call, *beside.mask);
  if (beside.addend) return sum(call, *beside.addend);
  for (const Rule& rule : rules()) {
    if (rule.operation != call.operation) continue;
    if (rule.arguments == call.arguments.size()) return recipe_by(rule, call, is_of_model, copy_of);
  }
  return std::nullopt;
}

std::optional<Recipe> recipe_of_kept(const SaveEvent& event) {
  if (event.arguments == nullptr) return std::nullopt;
  const Values& arguments = *event.arguments;
  if (event.facts.operation == kFewBitActivation) {
    if (!has_codes_of_sign(arguments)) return std::nullopt;
    return Recipe{kSign, arguments[0].toTensor().detach(),
                  [](const at::Tensor& x) { return ops::sign_encode(x); }};
  }
  if (event.facts.operation != kLogSoftmax) return std::nullopt;
  return Recipe{kSoftmax, arguments[0].toTensor().detach(),
                [dim = arguments[1].toInt(), type = event.facts.dtype](const at::Tensor& x) {
                  return at::softmax(x, dim, type);
                }};
}

}  // namespace fewbit::session
