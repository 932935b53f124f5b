#include "session/consumers.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ops/div.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include "session/backward_pass.hpp"
#include "session/interception.hpp"

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
constexpr std::array kCurved =
    std::to_array<std::string_view>({"sigmoid", "tanh", "sin", "cos", "atan", "asinh", "sinc",
                                     "erf", "erfc", "softplus", "log_sigmoid", "activation"});

/// The same, by orders of magnitude, or that take the least of many.
constexpr std::array kSteep = std::to_array<std::string_view>(
    {"exp", "exp2", "expm1", "tan", "sinh", "cosh", "logaddexp", "logaddexp2", "logcumsumexp",
     "min", "amin", "minimum", "kthvalue", "topk", "sort", "median"});

/// Which turn often, or choose: what runs on an input that errs takes another turn or choice.
constexpr std::array kUneven = std::to_array<std::string_view>(
    {"sin", "cos", "max", "amax", "maximum", "max_pool1d", "max_pool2d", "max_pool3d",
     "max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d",
     "adaptive_max_pool3d", "cummax", "cummin"});

/// Whose results are no longer numbers that err, but what a program decides by.
constexpr std::array kChoices = std::to_array<std::string_view>({"topk",
                                                                 "sort",
                                                                 "argsort",
                                                                 "argmax",
                                                                 "argmin",
                                                                 "multinomial",
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

/// So many wait at most, each as it is.
constexpr size_t kMostFollowed = 64;
/// So many tensors that come of one result are followed.
constexpr size_t kMostResults = 256;

/// "log" of "aten::log_".
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

/// That a mean or, as inside of one, a sum gives; undefined for others.
at::Tensor mean_of(const RecordedCall& call) {
  const std::string_view name = plain_name(call.operation);
  if (name == "mean") return call.results[0].toTensor().detach();
  if (name != "sum") return {};
  const at::Tensor sum = call.results[0].toTensor().detach();
  return at::div(
      sum, static_cast<double>(count_of(call.arguments[0])) / static_cast<double>(sum.numel()));
}

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

/// Whether it multiplies or divides by more than a number, as by a precision, a mask, weights of a
/// batch or units of columns: the more, the smaller the difference that was squared.
bool weighs(const RecordedCall& call) {
  const std::string_view name = plain_name(call.operation);
  return (name == "mul" || name == "div") && count_of(call.arguments[0]) > 1 &&
         count_of(call.arguments[1]) > 1;
}

/// Whether it multiplies by one number, or shows the same in another shape.
bool is_scaling(const RecordedCall& call) {
  constexpr std::array<std::string_view, 10> kNames = {
      "mul", "div", "view", "reshape", "squeeze", "unsqueeze", "expand", "alias", "neg", "detach"};
  return is_one_of(plain_name(call.operation), kNames);
}

/// The derivative of such a power has no bound.
bool has_pole(const c10::IValue& exponent) {
  return !exponent.isScalar() || exponent.toScalar().toDouble() < 1.0;
}

/// Losses hardly divide by results of such factors: where nothing says that one does, they are
/// coded.
bool is_rarely_divided(Factor factor) {
  return factor == Factor::product || factor == Factor::derivative;
}

}  // namespace

Consumer consumer_of(const RecordedCall& call, const void* memory, Factor factor) {
  const bool is_square = factor == Factor::square;
  const bool is_curved = is_square || factor == Factor::input;
  const std::string_view name = plain_name(call.operation);
  const auto& arguments = call.arguments;
  const auto takes_at = [&](size_t i) {
    return i < arguments.size() && lies_in(arguments[i], memory);
  };
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

void Consumers::follow(const std::string& operation, const at::Tensor& saved, const void* run,
                       Factor factor, Decide decide) {
  const bool is_known = std::ranges::any_of(followed_, [&](const Followed& followed) {
    return followed.run == run && !followed.has_ended && followed.operation == operation;
  });
  if (is_known) return;
  followed_.push_back({operation, memory_of(saved), run, factor, std::move(decide)});
  leave(kMostFollowed);
}

void Consumers::follow_input(const std::string& operation, const at::Tensor& input, const void* run,
                             int64_t frame, Decide decide) {
  Followed followed{operation, memory_of(input), run, Factor::input, std::move(decide)};
  followed.has_ended = true;
  followed.frame = frame;
  add_result(input, followed.results);
  followed_.push_back(std::move(followed));
  leave(kMostFollowed);
}

/// Where too many wait: the oldest.
void Consumers::leave(size_t most) {
  while (followed_.size() > most) {
    const Followed oldest = std::move(followed_.front());
    followed_.erase(followed_.begin());
    oldest.decide({.is_exact = !is_rarely_divided(oldest.factor), .is_taken = false});
  }
}

void Consumers::end() {
  for (const Followed& followed : std::exchange(followed_, {})) {
    const bool stays = !is_rarely_divided(followed.factor) && is_held(followed);
    followed.decide({.is_exact = stays, .is_taken = false, .mean = followed.mean});
  }
}

bool Consumers::is_held(const Followed& followed) {
  const auto is_alive = [](const Result& result) { return !result.tensor.expired(); };
  return std::ranges::any_of(followed.results, is_alive) ||
         std::ranges::any_of(followed.sums, is_alive);
}

bool Consumers::takes_any(const RecordedCall& call, const std::vector<Result>& results) {
  return std::ranges::any_of(
      results, [&](const Result& result) { return takes(call, result.memory.address()); });
}

bool Consumers::weighs_sums(const RecordedCall& call, const Followed& followed) {
  return !followed.sums.empty() && weighs(call) && takes_any(call, followed.sums);
}

bool Consumers::is_end_of(const RecordedCall& call, const Followed& followed) {
  return followed.frame != 0 && call.operation == kEndOfFrame &&
         call.arguments.at(0).toInt() == followed.frame;
}

bool Consumers::chooses_within(const RecordedCall& call, const Followed& followed) {
  if (followed.frame == 0 || !is_one_of(plain_name(call.operation), kChoices)) return false;
  return std::ranges::any_of(call.arguments, [](const c10::IValue& argument) {
    return argument.isTensor() && argument.toTensor().defined() &&
           argument.toTensor().is_floating_point();
  });
}

std::optional<Consumer> Consumers::consumer(const RecordedCall& call, const Followed& followed) {
  std::optional<Consumer> by;
  for (const Result& result : followed.results) {
    const void* memory = result.memory.address();
    if (!takes(call, memory)) continue;
    by = std::max(by.value_or(Consumer::passes), consumer_of(call, memory, followed.factor));
  }
  return by;
}

/// What is decided is no longer among the followed ones when it is told.
void Consumers::decide(const RecordedCall& call) {
  // What is only looked at has no gradient, nor has what runs within an operation.
  const bool has_gradient = std::ranges::any_of(call.results, [](const c10::IValue& result) {
    return result.isTensor() && result.toTensor().defined() && result.toTensor().requires_grad();
  });
  std::vector<std::pair<Decide, Decision>> decided;
  std::erase_if(followed_, [&](Followed& followed) {
    const std::optional<Consumer> by = consumer(call, followed);
    if (by == Consumer::sums && has_gradient && !followed.mean.defined() &&
        lies_in(call.arguments[0], followed.results[0].memory.address())) {
      followed.mean = mean_of(call);
    }
    const bool is_summed =
        by == Consumer::sums && has_gradient && is_rarely_divided(followed.factor);
    followed.is_of_layer |= by == Consumer::sums && is_one_of(plain_name(call.operation), kLayers);
    const bool changes =
        is_in_place(call.operation) && lies_in(call.arguments[0], followed.saved.address());
    const bool is_gone = followed.has_ended && !is_held(followed);
    const bool is_over = followed.is_of_layer && is_end_of(call, followed);
    const bool is_lost = followed.results.size() > kMostResults;
    const bool is_exact = by == Consumer::divides || weighs_sums(call, followed) ||
                          chooses_within(call, followed) ||
                          (is_lost && !is_rarely_divided(followed.factor));
    if (!is_exact && !is_summed && !changes && !is_gone && !is_lost && !is_over) return false;
    decided.emplace_back(std::move(followed.decide),
                         Decision{.is_exact = is_exact, .mean = followed.mean});
    return true;
  });
  for (const auto& [decide, decision] : decided) decide(decision);
}

void Consumers::start_call(const RecordedCall& call) {
  if (!is_in_backward() && !call.arguments.empty()) decide(call);
}

void Consumers::end_call(const RecordedCall& call) {
  if (is_in_backward()) return;
  decide(call);
  for (Followed& followed : followed_) {
    const bool is_own = !followed.has_ended && call.operation == followed.operation;
    const std::optional<Consumer> by = consumer(call, followed);
    followed.has_ended |= is_own;
    if (is_own || by == Consumer::passes) add_results(call, followed.results);
    if (followed.factor == Factor::square && is_weighable(call, by, followed)) {
      add_results(call, followed.sums);
    }
  }
}

/// Whether it gives sums of squares, one for each row or column, or a multiple of such.
bool Consumers::is_weighable(const RecordedCall& call, std::optional<Consumer> by,
                             const Followed& followed) {
  if (call.results.size() != 1 || count_of(call.results[0]) <= 1) return false;
  if (by == Consumer::sums) return is_one_of(plain_name(call.operation), kReductions);
  return takes_any(call, followed.sums) && is_scaling(call);
}

void Consumers::add_result(const at::Tensor& tensor, std::vector<Result>& results) {
  if (!tensor.defined()) return;
  std::erase_if(results, [&](const Result& result) {
    return result.tensor.expired() ||
           result.tensor._unsafe_get_target() == tensor.unsafeGetTensorImpl();
  });
  results.push_back({memory_of(tensor), Result::Held(tensor.getIntrusivePtr())});
}

void Consumers::add_results(const RecordedCall& call, std::vector<Result>& results) {
  for (const c10::IValue& result : call.results) {
    if (result.isTensor()) add_result(result.toTensor(), results);
    if (!result.isTensorList()) continue;
    for (const at::Tensor& part : result.toTensorVector()) add_result(part, results);
  }
}

}  // namespace fewbit::session
