#include "compression/rules.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/rsqrt.h>
#include <c10/util/accumulate.h>

#include "compression/compression.hpp"
#include "compression/consumers.hpp"
#include "dispatch/activation_call.hpp"
#include "trace/contents.hpp"
#include "trace/model_parameters.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

namespace {

constexpr int kAny = -2;  // whichever argument or result
constexpr int kResult = -1;
constexpr std::string_view kPower = "aten::pow";
constexpr std::string_view kProductOf = "aten::mul";
constexpr std::string_view kAttentionName = "fewbit::attention";

// Weights by what a class adds to the loss of a small transformer (examples/text), an element and a
// squared error. Attention runs again on what is decoded: in torch's own form it would be 16.
constexpr SavePolicy kLinear = {StorageKind::rotated, 1.0};
constexpr SavePolicy kNorm = {StorageKind::rotated, 1.0, true};
constexpr SavePolicy kAttention = {StorageKind::rotated, 4.0};
constexpr SavePolicy kCheckpoint = {StorageKind::rotated, 4.0, false, Factor::input};
constexpr SavePolicy kProbabilities = {StorageKind::probabilities, 1.0, false, Factor::product};
constexpr SavePolicy kSoftmax = {StorageKind::probabilities, 16.0, false, Factor::probability};
constexpr SavePolicy kProduct = {StorageKind::rotated, 1.0, false, Factor::product};
constexpr SavePolicy kSquare = {StorageKind::rotated, 1.0, false, Factor::square};
constexpr SavePolicy kIndices = {StorageKind::integers};
constexpr SavePolicy kMask = {StorageKind::mask};
constexpr SavePolicy kSizes = {StorageKind::sizes};
constexpr SavePolicy kCodes = {StorageKind::codes};

struct Rule {
  std::string_view operation;
  int argument;
  SavePolicy save_policy;
};

/// What is kept of what, by the operation that saves it.
constexpr std::array kRules = {
    // Products: the gradient of one factor is linear in the other.
    Rule{"aten::addmm", kAny, kLinear},
    Rule{"aten::mm", kAny, kLinear},
    Rule{"aten::bmm", kAny, kLinear},
    Rule{"aten::baddbmm", kAny, kLinear},
    Rule{"aten::addbmm", kAny, kLinear},
    Rule{"aten::linear", kAny, kLinear},
    Rule{"aten::mv", kAny, kLinear},
    Rule{"aten::mul", kAny, kProduct},
    Rule{"aten::convolution", 0, kLinear},
    Rule{"aten::_convolution", 0, kLinear},
    Rule{"aten::convolution_overrideable", 0, kLinear},
    // Norms: their inputs; means and deviations stay exact.
    Rule{"aten::native_layer_norm", 0, kNorm},
    Rule{"aten::native_batch_norm", 0, kNorm},
    Rule{"aten::_batch_norm_impl_index", 0, kNorm},
    Rule{"aten::cudnn_batch_norm", 0, kNorm},
    Rule{"aten::miopen_batch_norm", 0, kNorm},
    Rule{"aten::native_group_norm", 0, kNorm},
    Rule{"aten::_fused_rms_norm", 0, kNorm},
    // Queries, keys and values; it runs again.
    Rule{kAttentionName, 0, kAttention},
    Rule{kAttentionName, 1, kAttention},
    Rule{kAttentionName, 2, kAttention},
    // Inputs of what runs again.
    Rule{kCheckpointOperation, kAny, kCheckpoint},
    // The gradient is linear in the one's probabilities, in the other's it is quadratic.
    Rule{kLogSoftmax, kResult, kProbabilities},
    Rule{"aten::_softmax", kResult, kSoftmax},
    // Backward reads where the targets are.
    Rule{"aten::nll_loss_forward", 0, kSizes},
    Rule{"aten::nll_loss2d_forward", 0, kSizes},
    // Of pooling sizes and places.
    Rule{"aten::max_pool2d_with_indices", 0, kSizes},
    Rule{"aten::max_pool2d_with_indices", kResult, kIndices},
    Rule{"aten::max_pool3d_with_indices", 0, kSizes},
    Rule{"aten::max_pool3d_with_indices", kResult, kIndices},
    Rule{"aten::adaptive_max_pool2d", 0, kSizes},
    Rule{"aten::adaptive_max_pool2d", kResult, kIndices},
    Rule{"aten::adaptive_max_pool3d", 0, kSizes},
    Rule{"aten::adaptive_max_pool3d", kResult, kIndices},
    Rule{"aten::avg_pool2d", 0, kSizes},
    Rule{"aten::avg_pool3d", 0, kSizes},
    Rule{"aten::_adaptive_avg_pool2d", 0, kSizes},
    Rule{"aten::_adaptive_avg_pool3d", 0, kSizes},
    Rule{"aten::native_dropout", kResult, kMask},
    Rule{"fewbit::activation", kAny, kCodes},
};

/// Without what says that it works in place.
std::string_view base_name(std::string_view operation) {
  if (is_in_place(operation)) operation.remove_suffix(1);
  return operation;
}

/// A square, as in norms by the root of the mean square: its gradient is linear in what it is of.
bool is_square(const SaveEvent& event) {
  if (event.arguments == nullptr) return false;
  const std::vector<c10::IValue>& arguments = *event.arguments;
  if (event.facts.operation == kPower) {
    return event.argument == 0 && arguments[1].isScalar() && arguments[1].toScalar().equal(2);
  }
  if (base_name(event.facts.operation) != kProductOf) return false;
  if (!arguments[1].isTensor()) return false;
  const at::Tensor one = arguments[0].toTensor(), other = arguments[1].toTensor();
  return one.is_same(other) ||
         (one.has_storage() && one.is_alias_of(other) && one.sizes() == other.sizes() &&
          one.strides() == other.strides() && one.storage_offset() == other.storage_offset());
}

/// A factor beside one whose gradient is multiplied or divided further back, by what falls where
/// this one grows.
bool is_beside_a_scale(const SaveEvent& event) {
  if (event.arguments == nullptr || base_name(event.facts.operation) != kProductOf) return false;
  if (event.argument < 0 || !event.arguments->at(1).isTensor()) return false;
  const auto argument = static_cast<size_t>(event.argument);
  const at::Tensor mine = event.arguments->at(argument).toTensor(),
                   other = event.arguments->at(1 - argument).toTensor();
  return (other.numel() == mine.numel() && scales_gradient(other)) ||
         (other.numel() > 1 && is_exponential(other));
}

/// What dropout multiplies by: drawn inside of it, so that no gradient runs through it.
bool is_of_dropout(const SaveEvent& event) {
  const std::string_view caller = base_name(event.caller);
  return base_name(event.facts.operation) == kProductOf && event.argument == 1 &&
         event.facts.maker == SavedTensor::kNoGradient &&
         (caller == "aten::dropout" || caller == "aten::feature_dropout");
}

bool is_batch_norm(std::string_view operation) {
  return operation == "aten::native_batch_norm" || operation == "aten::cudnn_batch_norm";
}

}  // namespace

bool needs_arguments(std::string_view operation) {
  constexpr std::array<std::string_view, 6> kNames = {"aten::max_pool2d_with_indices",
                                                      "aten::max_pool3d_with_indices",
                                                      "aten::adaptive_max_pool2d",
                                                      "aten::adaptive_max_pool3d",
                                                      kAttentionName,
                                                      kCheckpointOperation};
  return is_elementwise(operation) || (is_in_place(operation) && is_activation(operation)) ||
         std::ranges::find(kNames, operation) != kNames.end();
}

bool is_mask_of_attention(const SaveEvent& event) {
  return event.facts.operation == kAttentionName && event.argument < 0 &&
         event.arguments != nullptr;
}

bool has_channels(const SaveEvent& event) {
  const size_t dimensions = event.facts.shape.size();
  if (dimensions < 3 || dimensions > 5) return false;
  constexpr std::array<std::string_view, 3> kNames = {"convolution", "batch_norm", "group_norm"};
  return std::ranges::any_of(kNames, [&](std::string_view name) {
    return event.facts.operation.find(name) != std::string::npos;
  });
}

std::optional<codecs::Norm> norm_of(const SaveEvent& event) {
  const std::string_view operation = event.facts.operation;
  const auto dimensions = static_cast<int64_t>(event.facts.shape.size());
  if (event.arguments == nullptr || event.argument != 0) return std::nullopt;
  const std::vector<c10::IValue>& arguments = *event.arguments;
  const auto numbers = [&](size_t i, const std::vector<int64_t>& sizes) {
    if (!arguments[i].isTensor() || !arguments[i].toTensor().defined()) return at::Tensor();
    return arguments[i].toTensor().detach().view(sizes);
  };
  if (operation == "aten::native_layer_norm") {
    const std::vector<int64_t> sizes = arguments[1].toIntVector();
    std::vector<int64_t> over(sizes.size());
    std::iota(over.begin(), over.end(), dimensions - static_cast<int64_t>(sizes.size()));
    return codecs::Norm{over, 0, arguments[4].toDouble(), numbers(2, sizes), numbers(3, sizes)};
  }
  if (is_batch_norm(operation) && arguments[5].toBool()) {
    std::vector<int64_t> beside(static_cast<size_t>(dimensions), 1), over = {0};
    for (int64_t i = 2; i < dimensions; ++i) over.push_back(i);
    beside[1] = -1;
    return codecs::Norm{over, 0, arguments[7].toDouble(), numbers(1, beside), numbers(2, beside)};
  }
  if (operation == "aten::native_group_norm") {
    const int64_t groups = arguments[6].toInt();
    std::vector<int64_t> beside(static_cast<size_t>(dimensions) + 1, 1), over;
    for (int64_t i = 2; i <= dimensions; ++i) over.push_back(i);
    beside[1] = groups;
    beside[2] = -1;
    return codecs::Norm{over, groups, arguments[7].toDouble(), numbers(1, beside),
                        numbers(2, beside)};
  }
  return std::nullopt;
}

namespace {

/// Of a batch norm that takes running means and variances, as they are now: [C] beside x.
std::optional<codecs::Statistics> running_statistics(const RecordedCall& norm) {
  const auto& arguments = norm.arguments;
  if (!is_batch_norm(norm.operation) || arguments[5].toBool()) return std::nullopt;
  if (!arguments[3].isTensor() || !arguments[4].isTensor()) return std::nullopt;
  std::vector<int64_t> beside(static_cast<size_t>(arguments[0].toTensor().dim()), 1);
  beside[1] = -1;
  const at::Tensor mean = arguments[3].toTensor().detach().clone().view(beside),
                   variance = arguments[4].toTensor().detach().view(beside);
  auto statistics = codecs::statistics_of(mean, at::rsqrt(variance + arguments[7].toDouble()));
  statistics.is_kept_anyway = false;
  return statistics;
}

}  // namespace

std::optional<codecs::Statistics> statistics_of(const RecordedCall& norm) {
  if (auto running = running_statistics(norm)) return running;
  const std::string_view operation = norm.operation;
  const auto result = [&](size_t i) {
    return i < norm.results.size() && norm.results[i].isTensor() ? norm.results[i].toTensor()
                                                                 : at::Tensor();
  };
  const bool has_mean = operation != "aten::_fused_rms_norm";
  at::Tensor mean = has_mean ? result(1) : at::Tensor(), factor = result(has_mean ? 2 : 1);
  if (!factor.defined() || factor.numel() == 0 || (has_mean && !mean.defined())) {
    return std::nullopt;
  }
  const auto dimensions = static_cast<size_t>(norm.arguments[0].toTensor().dim());
  if (operation == "aten::native_layer_norm" || !has_mean) {
    return codecs::statistics_of(mean, factor);
  }
  const bool is_group = operation == "aten::native_group_norm";
  if (!is_group && !is_batch_norm(operation)) return std::nullopt;
  // [C] beside [N, C, ...], [N, G] beside [N, G, C / G, ...].
  std::vector<int64_t> beside(dimensions + (is_group ? 1 : 0), 1);
  if (is_group) beside[0] = factor.size(0);
  beside[1] = factor.size(-1);
  return codecs::statistics_of(mean.view(beside), factor.view(beside),
                               is_group ? factor.size(-1) : 0);
}

codecs::CodecPointer codec_of_places(const SaveEvent& event) {
  if (event.arguments == nullptr) return codecs::integers();
  const std::vector<c10::IValue>& arguments = *event.arguments;
  const at::IntArrayRef sizes = arguments[0].toTensor().sizes();
  const size_t dimensions = event.facts.operation.find("2d") != std::string::npos ? 2 : 3;
  const std::vector<int64_t> plane = sizes.slice(sizes.size() - dimensions).vec();
  if (arguments.size() < 6) {  // windows of different sizes
    return codecs::integers_below(c10::multiply_integers(plane));
  }
  const auto list = [&](size_t i) {
    std::vector<int64_t> numbers = arguments[i].toIntVector();
    if (numbers.size() == 1) numbers.resize(dimensions, numbers[0]);
    return numbers;
  };
  codecs::Windows windows{plane, list(1), list(2), list(3), list(4)};
  if (windows.stride.empty()) windows.stride = windows.kernel;
  return codecs::places(windows);
}

SavePolicy save_policy_of_checkpoint() {
  return kCheckpoint;
}

bool may_take_bits(const at::Tensor& tensor, const SaveEvent& event) {
  if (event.facts.parameter || event.facts.maker == SavedTensor::kNoGradient) return false;
  return tensor.is_floating_point() && !is_made_of_parameters(tensor);
}

SavePolicy save_policy_of(const at::Tensor& tensor, const SaveEvent& event) {
  if (is_of_dropout(event)) return kMask;
  if (is_square(event)) return may_take_bits(tensor, event) ? kSquare : SavePolicy();
  if (is_beside_a_scale(event)) return {};
  for (const Rule& rule : kRules) {
    if (rule.operation != base_name(event.facts.operation)) continue;
    if (rule.argument != kAny && rule.argument != event.argument) continue;
    const StorageKind storage = rule.save_policy.storage;
    const bool is_index = storage == StorageKind::integers || storage == StorageKind::mask ||
                          storage == StorageKind::codes;
    return is_index || may_take_bits(tensor, event) ? rule.save_policy : SavePolicy();
  }
  return {};
}

std::vector<std::string_view> names_of(std::string_view operation) {
  std::vector<std::string_view> names = {operation};
  const std::string_view base = base_name(operation);
  if (base != operation) names.push_back(base);
  const size_t library = base.rfind(':');
  if (library != std::string_view::npos) names.push_back(base.substr(library + 1));
  if (operation == kLogSoftmax) names.push_back("aten::_log_softmax");
  if (operation == kAttentionName) {
    names.insert(names.end(),
                 {"aten::scaled_dot_product_attention", "scaled_dot_product_attention"});
  }
  return names;
}

bool is_activation(std::string_view operation) {
  static const std::vector<std::string> known = activation_operations();
  const std::string_view name = names_of(operation).back();
  constexpr std::string_view kForward = "log_sigmoid_forward";  // of log_sigmoid
  return name == kForward || std::ranges::find(known, name) != known.end();
}

std::string reason_left(const at::Tensor& tensor, const SaveEvent& event) {
  const std::string& operation = event.facts.operation;
  if (!tensor.is_floating_point()) return "no floating-point numbers";
  if (event.facts.maker == SavedTensor::kNoGradient) return "no gradient runs through it";
  if (is_made_of_parameters(tensor)) return "copies of parameters";
  if (operation == "aten::mkldnn_rnn_layer") return "oneDNN's layer reads a layout of its own";
  if (operation == "custom function") return "what it does with it is not known";
  if (save_policy_of(tensor, event).storage != StorageKind::exact) {
    return is_too_small(tensor) ? "fewer than 1,024 elements" : "by rule or plan";
  }
  if (const char* reason = reason_for_rule(names_of(operation).back())) return reason;
  return "no rule for the operation";
}

}  // namespace fewbit::session
