#include "compression/operators/saved.hpp"

#include <algorithm>

#include "dispatch/activation_call.hpp"
#include "trace/contents.hpp"
#include "trace/model_parameters.hpp"

namespace fewbit::session {

namespace {

bool is_meant(const Operator& by, const SavedArgument& saved, int argument) {
  if (saved.argument == kAny) return true;
  if (saved.argument == kResult) return argument < 0;
  return argument >= 0 && by.place_of(saved.argument) == static_cast<size_t>(argument);
}

std::optional<SavePolicy> policy_of(const SaveEvent& event) {
  const Operator* by = find_operator(event.facts.operation);
  if (by == nullptr) return std::nullopt;
  if (by->policy != nullptr) {
    if (auto policy = by->policy(event)) return policy;
  }
  const auto saved = std::ranges::find_if(
      by->saves, [&](const SavedArgument& one) { return is_meant(*by, one, event.argument); });
  return saved == by->saves.end() ? std::nullopt : std::optional(saved->policy);
}

/// What is not floating-point numbers that a gradient runs through.
bool is_beside_numbers(StorageKind storage) {
  return storage == StorageKind::integers || storage == StorageKind::mask ||
         storage == StorageKind::codes;
}

}  // namespace

SavePolicy save_policy_of(const at::Tensor& tensor, const SaveEvent& event) {
  const std::optional<SavePolicy> policy = policy_of(event);
  if (!policy) return {};
  return is_beside_numbers(policy->storage) || may_take_bits(tensor, event) ? *policy
                                                                            : SavePolicy();
}

bool needs_arguments(std::string_view operation) {
  const Operator* by = find_operator_like(operation);
  if (by != nullptr && by->holds_arguments) return true;
  return is_in_place(operation) && is_activation(operation);
}

bool has_channels(const SaveEvent& event) {
  const size_t dimensions = event.facts.shape.size();
  if (dimensions < 3 || dimensions > 5) return false;
  const Operator* by = find_operator(event.facts.operation);
  return by != nullptr && by->has_channels;
}

std::optional<codecs::Norm> norm_of(const SaveEvent& event) {
  if (event.arguments == nullptr || event.argument != 0) return std::nullopt;
  const Operator* by = find_operator(event.facts.operation);
  if (by == nullptr || by->norm == nullptr) return std::nullopt;
  return by->norm(NamedArguments(*by, *event.arguments),
                  static_cast<int64_t>(event.facts.shape.size()));
}

std::optional<codecs::Statistics> statistics_of(const RecordedCall& norm) {
  const Operator* by = find_operator(norm.operation);
  if (by == nullptr || by->statistics == nullptr) return std::nullopt;
  std::vector<at::Tensor> results;
  for (const c10::IValue& result : norm.results) {
    results.push_back(result.isTensor() ? result.toTensor() : at::Tensor());
  }
  return by->statistics(NamedArguments(*by, norm.arguments), results);
}

codecs::CodecPointer codec_of_integers(const SaveEvent& event) {
  const Operator* by = find_operator(event.facts.operation);
  const bool is_known = event.arguments != nullptr && by != nullptr && by->integers != nullptr;
  return is_known ? by->integers(NamedArguments(*by, *event.arguments)) : codecs::integers();
}

bool may_take_bits(const at::Tensor& tensor, const SaveEvent& event) {
  if (event.facts.parameter || event.facts.maker == SavedTensor::kNoGradient) return false;
  return tensor.is_floating_point() && !is_made_of_parameters(tensor);
}

std::vector<std::string_view> names_of(std::string_view operation) {
  std::vector<std::string_view> names = {operation};
  const std::string_view base = base_name(operation), plain = plain_name(operation);
  if (base != operation) names.push_back(base);
  if (plain != base) names.push_back(plain);
  if (operation == kLogSoftmax) names.push_back("aten::_log_softmax");
  if (operation == kAttention) {
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
