#include "compression/consumer_of.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

namespace fewbit::session {

namespace {

/// So many elements share the constants of their codes at least: what is a sum over as many does
/// not tell one from its neighbours.
constexpr int64_t kMany = 64;

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

constexpr std::array kLayers = std::to_array<std::string_view>({"mm",
                                                                "addmm",
                                                                "bmm",
                                                                "baddbmm",
                                                                "addbmm",
                                                                "mv",
                                                                "dot",
                                                                "linear",
                                                                "matmul",
                                                                "einsum",
                                                                "convolution",
                                                                "_convolution",
                                                                "conv1d",
                                                                "conv2d",
                                                                "conv3d",
                                                                "native_layer_norm",
                                                                "layer_norm",
                                                                "native_batch_norm",
                                                                "batch_norm",
                                                                "_batch_norm_impl_index",
                                                                "cudnn_batch_norm",
                                                                "miopen_batch_norm",
                                                                "native_group_norm",
                                                                "group_norm",
                                                                "_fused_rms_norm",
                                                                "rms_norm",
                                                                "instance_norm",
                                                                "scaled_dot_product_attention",
                                                                "attention",
                                                                "nll_loss",
                                                                "nll_loss_nd",
                                                                "nll_loss_forward"});

/// Whose gradients go to few elements of many.
constexpr std::array kSelections = std::to_array<std::string_view>(
    {"_softmax", "softmax", "log_softmax", "_log_softmax", "logsumexp", "cross_entropy_loss"});

/// Over whole rows, or few elements.
constexpr std::array<std::string_view, 4> kReductions = {"sum", "mean", "nansum", "var"};

constexpr std::array<std::string_view, 5> kRootsOfReductions = {
    "norm", "linalg_vector_norm", "linalg_norm", "frobenius_norm", "std"};

constexpr std::array kDivide = std::to_array<std::string_view>({"log",
                                                                "log2",
                                                                "log10",
                                                                "log1p",
                                                                "sqrt",
                                                                "rsqrt",
                                                                "reciprocal",
                                                                "acos",
                                                                "asin",
                                                                "acosh",
                                                                "atanh",
                                                                "logit",
                                                                "erfinv",
                                                                "digamma",
                                                                "lgamma",
                                                                "polygamma",
                                                                "prod",
                                                                "cumprod",
                                                                "atan2",
                                                                "hypot",
                                                                "binary_cross_entropy",
                                                                "special_logit",
                                                                "special_erfinv",
                                                                "special_entr",
                                                                "poisson_nll_loss",
                                                                "_linalg_slogdet",
                                                                "linalg_slogdet",
                                                                "linalg_inv_ex",
                                                                "linalg_inv",
                                                                "_linalg_solve_ex",
                                                                "linalg_solve",
                                                                "linalg_cholesky_ex",
                                                                "linalg_cholesky"});

/// Whose derivatives change from element to element: a square that counts for nothing there errs as
/// much as one that counts.
constexpr std::array kCurved = std::to_array<std::string_view>(
    {"sigmoid", "tanh", "sin", "cos", "atan", "asinh", "sinc", "erf", "erfc", "softplus",
     "log_sigmoid", "clamp", "clamp_min", "clamp_max", "activation"});

/// The same, by orders of magnitude, or that take the least of many.
constexpr std::array kSteep = std::to_array<std::string_view>(
    {"exp", "exp2", "expm1", "tan", "sinh", "cosh", "logaddexp", "logaddexp2", "logcumsumexp",
     "min", "amin", "minimum", "kthvalue", "topk", "sort", "median"});

/// Which turn often, or choose: what runs on an input that errs takes another turn or choice.
constexpr std::array kUneven = std::to_array<std::string_view>(
    {"sin", "cos", "max", "amax", "maximum", "max_pool1d", "max_pool2d", "max_pool3d",
     "max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d",
     "adaptive_max_pool3d", "cummax", "cummin"});

/// Whose results are no longer numbers that err, but what a program decides by, beside integers
/// that are made of numbers.
constexpr std::array kChoices = std::to_array<std::string_view>({"topk",
                                                                 "sort",
                                                                 "argsort",
                                                                 "argmax",
                                                                 "argmin",
                                                                 "median",
                                                                 "nanmedian",
                                                                 "kthvalue",
                                                                 "mode",
                                                                 "floor",
                                                                 "ceil",
                                                                 "round",
                                                                 "trunc",
                                                                 "frac",
                                                                 "sign",
                                                                 "sgn",
                                                                 "heaviside",
                                                                 "floor_divide",
                                                                 "remainder",
                                                                 "fmod",
                                                                 "grid_sampler",
                                                                 "grid_sampler_2d",
                                                                 "grid_sampler_3d",
                                                                 "multinomial",
                                                                 "poisson",
                                                                 "binomial",
                                                                 "_standard_gamma",
                                                                 "_sample_dirichlet",
                                                                 "copysign",
                                                                 "nonzero",
                                                                 "nonzero_numpy",
                                                                 "gt",
                                                                 "ge",
                                                                 "lt",
                                                                 "le",
                                                                 "eq",
                                                                 "ne",
                                                                 "greater",
                                                                 "less",
                                                                 "greater_equal",
                                                                 "less_equal",
                                                                 "bucketize",
                                                                 "searchsorted",
                                                                 "unique_consecutive",
                                                                 "_unique2",
                                                                 "item",
                                                                 "_local_scalar_dense"});

constexpr std::array kNormsOfChannels =
    std::to_array<std::string_view>({"batch_norm", "_batch_norm_impl_index", "native_batch_norm",
                                     "cudnn_batch_norm", "miopen_batch_norm", "instance_norm"});

/// By one of their arguments.
struct Quotient {
  std::string_view operation;
  size_t divisor;
};

constexpr std::array kQuotients = {
    Quotient{"div", 1},          Quotient{"divide", 1},        Quotient{"true_divide", 1},
    Quotient{"floor_divide", 1}, Quotient{"remainder", 1},     Quotient{"fmod", 1},
    Quotient{"xlogy", 1},        Quotient{"special_xlogy", 1}, Quotient{"special_xlog1py", 1},
    Quotient{"addcdiv", 2}};

bool has_few_rows(const RecordedCall& call) {
  return count_of(call.results[0]) * kMany <= count_of(call.arguments[0]);
}

/// Whether the argument is as large as the other and has a gradient: it may fall as that one does.
bool scales(const c10::IValue& argument, const c10::IValue& other) {
  if (!argument.isTensor() || !argument.toTensor().requires_grad()) return false;
  return count_of(argument) * kMany > count_of(other);
}

/// Whether both have a gradient, element by element.
bool are_alike(const c10::IValue& one, const c10::IValue& other) {
  if (!one.isTensor() || !other.isTensor()) return false;
  return one.toTensor().requires_grad() && other.toTensor().requires_grad() &&
         one.toTensor().sizes() == other.toTensor().sizes();
}

/// Whether it weighs by a sum over products, as by a vector.
bool weighs_in_sum(const RecordedCall& call, const void* memory) {
  constexpr std::array kNames =
      std::to_array<std::string_view>({"mv", "dot", "mm", "bmm", "matmul", "einsum", "addmv"});
  if (!is_one_of(plain_name(call.operation), kNames)) return false;
  const auto is_weight = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() < 2 || memory_of(tensor).address() == memory) {
      return false;
    }
    const at::IntArrayRef sizes = tensor.sizes();
    const int64_t longest = *std::max_element(sizes.begin(), sizes.end());
    return !tensor.requires_grad() && longest == tensor.numel();
  };
  return std::ranges::any_of(call.arguments, [&](const c10::IValue& argument) {
    if (argument.isTensor()) return is_weight(argument.toTensor());
    return argument.isTensorList() && std::ranges::any_of(argument.toTensorVector(), is_weight);
  });
}

/// The derivative of such a power has no bound.
bool has_pole(const c10::IValue& exponent) {
  return !exponent.isScalar() || exponent.toScalar().toDouble() < 1.0;
}

}  // namespace

std::string_view plain_name(std::string_view operation) {
  if (is_in_place(operation)) operation.remove_suffix(1);
  const size_t library = operation.rfind(':');
  return library == std::string_view::npos ? operation : operation.substr(library + 1);
}

bool lies_in(const c10::IValue& value, const void* memory) {
  if (value.isTensor()) {
    return value.toTensor().defined() && memory_of(value.toTensor()).address() == memory;
  }
  if (!value.isTensorList()) return false;
  return std::ranges::any_of(value.toTensorVector(), [&](const at::Tensor& tensor) {
    return tensor.defined() && memory_of(tensor).address() == memory;
  });
}

int64_t count_of(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() ? value.toTensor().numel() : 1;
}

bool weighs(const RecordedCall& call) {
  const std::string_view name = plain_name(call.operation);
  const bool is_added = name == "addcmul" || name == "addcdiv";
  if (!is_added && name != "mul" && name != "div") return false;
  const size_t first = is_added ? 1 : 0;
  return count_of(call.arguments[first]) > 1 && count_of(call.arguments[first + 1]) > 1;
}

Consumer consumer_of(const RecordedCall& call, const void* memory, Factor factor) {
  const bool is_square = factor == Factor::square;
  const bool is_curved = is_square || factor == Factor::input;
  const std::string_view name = plain_name(call.operation);
  const auto& arguments = call.arguments;
  const auto takes_at = [&](size_t i) {
    return i < arguments.size() && lies_in(arguments[i], memory);
  };
  if (is_square && weighs_in_sum(call, memory)) return Consumer::divides;
  if (is_one_of(name, kLayers)) return Consumer::sums;
  if (is_one_of(name, kSelections)) return is_curved ? Consumer::divides : Consumer::sums;
  if (is_one_of(name, kDivide)) return Consumer::divides;
  if (is_one_of(name, kReductions) && !call.results.empty() && has_few_rows(call)) {
    return Consumer::sums;
  }
  if (is_one_of(name, kRootsOfReductions) && !call.results.empty()) {
    return has_few_rows(call) ? Consumer::sums : Consumer::divides;
  }
  if (name == "pow" && takes_at(0) && has_pole(arguments[1])) return Consumer::divides;
  if (is_square && weighs(call)) return Consumer::divides;
  const auto quotient = std::ranges::find(kQuotients, name, &Quotient::operation);
  if (quotient != kQuotients.end()) {
    const size_t divisor = quotient->divisor;
    const bool is_divided = takes_at(divisor) || scales(arguments[divisor], arguments[0]);
    return is_divided ? Consumer::divides : Consumer::passes;
  }
  if (is_square && is_one_of(name, kCurved)) return Consumer::divides;
  if (is_curved && is_one_of(name, kSteep)) return Consumer::divides;
  if (factor == Factor::input && is_one_of(name, kUneven)) return Consumer::divides;
  if (is_square && name == "pow" && takes_at(1)) return Consumer::divides;
  if (factor == Factor::probability && name == "mul" && are_alike(arguments[0], arguments[1])) {
    return Consumer::divides;  // as in an entropy, where the other grows as this one falls
  }
  return Consumer::passes;
}

bool scales_gradient(const at::Tensor& tensor) {
  constexpr std::array<std::string_view, 12> kNodes = {
      "ExpBackward0",   "Expm1Backward0", "Exp2Backward0", "ReciprocalBackward0",
      "RsqrtBackward0", "SqrtBackward0",  "LogBackward0",  "Log1PBackward0",
      "Log2Backward0",  "Log10Backward0", "DivBackward0",  "SoftmaxBackward0"};
  const torch::autograd::Node* maker = torch::autograd::impl::grad_fn_unsafe(tensor);
  if (maker == nullptr) return false;
  const std::string name = maker->name();
  return is_one_of(name, kNodes) || name.find("LogSoftmax") != std::string::npos;
}

bool is_exponential(const at::Tensor& tensor) {
  constexpr std::array<std::string_view, 2> kNodes = {"ExpBackward0", "Exp2Backward0"};
  const torch::autograd::Node* maker = torch::autograd::impl::grad_fn_unsafe(tensor);
  return maker != nullptr && is_one_of(maker->name(), kNodes);
}

bool is_division(std::string_view operation) {
  const std::string_view name = plain_name(operation);
  return is_one_of(name, kDivide) || is_one_of(name, kRootsOfReductions) ||
         std::ranges::find(kQuotients, name, &Quotient::operation) != kQuotients.end();
}

bool is_elementwise(std::string_view operation) {
  constexpr std::array<std::string_view, 4> kNames = {"mul", "pow", "_softmax", "log_softmax"};
  return is_one_of(plain_name(operation), kNames);
}

bool is_layer(std::string_view operation) {
  return is_one_of(plain_name(operation), kLayers);
}

bool is_norm_of_channels(std::string_view operation) {
  return is_one_of(plain_name(operation), kNormsOfChannels);
}

bool is_reduction(std::string_view operation) {
  return is_one_of(plain_name(operation), kReductions);
}

bool is_choice(const RecordedCall& call) {
  const std::string_view name = plain_name(call.operation);
  // By a rounding mode.
  const auto is_text = [](const c10::IValue& argument) { return argument.isString(); };
  if (name == "div" && std::ranges::any_of(call.arguments, is_text)) return true;
  return is_one_of(name, kChoices);
}

}  // namespace fewbit::session
