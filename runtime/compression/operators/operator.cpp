#include "compression/operators/operator.hpp"

#include <algorithm>
#include <unordered_map>

#include <c10/util/Exception.h>

#include "compression/operators/consumer.hpp"
#include "dispatch/activation_call.hpp"
#include "trace/contents.hpp"
#include "trace/model_parameters.hpp"

namespace fewbit::session {

namespace {

/// By plain name.
std::unordered_map<std::string_view, Operator>& known() {
  static std::unordered_map<std::string_view, Operator> all;
  return all;
}

void add(Operator one) {
  const std::string_view name = one.name;
  const bool is_new = known().try_emplace(name, std::move(one)).second;
  TORCH_INTERNAL_ASSERT(is_new, "two operators are called ", name);
}

}  // namespace

OperatorFamily::OperatorFamily(std::initializer_list<Operator> operators) {
  for (const Operator& one : operators) add(one);
}

OperatorFamily::OperatorFamily(const std::vector<Operator>& operators) {
  for (const Operator& one : operators) add(one);
}

std::vector<Operator> alike(std::initializer_list<std::string_view> names,
                            const Operator& example) {
  std::vector<Operator> all;
  for (const std::string_view name : names) {
    all.push_back(example);
    all.back().name = name;
  }
  return all;
}

std::string_view base_name(std::string_view operation) {
  if (is_in_place(operation)) operation.remove_suffix(1);
  return operation;
}

std::string_view plain_name(std::string_view operation) {
  operation = base_name(operation);
  const size_t library = operation.rfind(':');
  return library == std::string_view::npos ? operation : operation.substr(library + 1);
}

const Operator* find_operator_like(std::string_view operation) {
  const auto found = known().find(plain_name(operation));
  return found == known().end() ? nullptr : &found->second;
}

const Operator* find_operator(std::string_view operation) {
  const Operator* like = find_operator_like(operation);
  if (like == nullptr) return nullptr;
  const std::string_view base = base_name(operation);
  if (like->library.empty()) return base == like->name ? like : nullptr;
  const bool has_library = base.size() == like->library.size() + 2 + like->name.size() &&
                           base.starts_with(like->library);
  return has_library ? like : nullptr;
}

std::vector<const Operator*> all_operators() {
  std::vector<const Operator*> all;
  for (const auto& [name, one] : known()) all.push_back(&one);
  return all;
}

size_t Operator::place_of(std::string_view argument) const {
  const auto found = std::ranges::find(arguments, argument);
  TORCH_INTERNAL_ASSERT(found != arguments.end(), name, " has no argument '", argument, "'");
  return static_cast<size_t>(found - arguments.begin());
}

bool NamedArguments::fit() const {
  return values_.size() == of_.arguments.size();  // what is left out by default is among them
}

const c10::IValue& NamedArguments::operator[](std::string_view name) const {
  return values_.at(of_.place_of(name));
}

at::Tensor NamedArguments::tensor(std::string_view name) const {
  const c10::IValue& value = (*this)[name];
  return value.isTensor() ? value.toTensor() : at::Tensor();
}

bool Operator::is_recomputed(std::string_view operation) const {
  return recomputation.recipe != nullptr && (recomputation.in_place_too || !is_in_place(operation));
}

const std::vector<std::string_view>& recompute_kinds() {
  static const std::vector<std::string_view> names = {
      kCopy, kNorm, kRelu, kSign, kDropout, kSum, kActivationValue, kLinear, kSoftmax, kCast};
  return names;
}

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

bool saves_late(std::string_view operation) {
  const Operator* by = find_operator(operation);
  return by != nullptr && by->saves_late;
}

bool has_channels(const SaveEvent& event) {
  const size_t dimensions = event.facts.shape.size();
  if (dimensions < 3 || dimensions > 5) return false;
  const Operator* by = find_operator(event.facts.operation);
  return by != nullptr && by->has_channels;
}

bool reads_pieces(std::string_view operation) {
  const Operator* by = find_operator(operation);
  return by != nullptr && by->reads_pieces;
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

std::optional<int64_t> normalized_dimension(const SaveEvent& event) {
  if (event.argument >= 0 || event.arguments == nullptr) return std::nullopt;
  const Operator* by = find_operator(event.facts.operation);
  if (by == nullptr || !by->sums_to_one) return std::nullopt;
  return NamedArguments(*by, *event.arguments)["dim"].toInt();
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

bool is_activation(std::string_view operation) {
  static const std::vector<std::string> known = activation_operations();
  const std::string_view name = plain_name(operation);
  constexpr std::string_view kForward = "log_sigmoid_forward";  // of log_sigmoid
  return name == kForward || std::ranges::find(known, name) != known.end();
}

bool saves_no_classes(std::string_view operation) {
  return find_operator(operation) != nullptr && !is_activation(operation);
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
  if (const char* reason = reason_for_rule(plain_name(operation))) return reason;
  if (is_division(operation)) return "its gradient divides by what it saves";
  return "no rule for the operation";
}

bool may_be_recomputed(std::string_view operation) {
  const Operator* by = find_operator(operation);
  return by != nullptr && (by->is_recomputed(operation) || by->recipe_of_saved != nullptr);
}

std::optional<Recipe> recipe_of_saved(const SaveEvent& event) {
  if (event.arguments == nullptr) return std::nullopt;
  const Operator* by = find_operator(event.facts.operation);
  const bool is_known = by != nullptr && by->recipe_of_saved != nullptr;
  return is_known ? by->recipe_of_saved(event) : std::nullopt;
}

}  // namespace fewbit::session
