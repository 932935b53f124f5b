#include "compression/policy.hpp"

#include <algorithm>

#include "compression/operators/arithmetic.hpp"
#include "dispatch/activation_call.hpp"
#include "dispatch/policy_stack.hpp"
#include "ops/activation.hpp"
#include "ops/recomputed.hpp"
#include "trace/contents.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

namespace {

/// Elsewhere nothing would be coded.
bool is_possible(const at::Tensor& x) {
  return reason_against(x) == nullptr && ops::runs_on(x.device().type());
}

std::optional<Substitute> log_softmax(Arguments arguments) {
  if (!is_possible(arguments[0].toTensor())) return std::nullopt;
  return [](Arguments given) -> torch::jit::Stack {
    return {ops::log_softmax(given[0].toTensor(), given[1].toInt(), given[2].toBool())};
  };
}

at::Tensor mask_of(Arguments arguments) {
  return arguments[3].isTensor() ? arguments[3].toTensor() : at::Tensor();
}

ops::AttentionOptions options_of(Arguments arguments) {
  return {mask_of(arguments), arguments[4].toDouble(), arguments[5].toBool(),
          arguments[6].toOptional<double>(), arguments[7].toBool()};
}

/// Query, key and value: one that asks for no gradient is left to torch, as a mask that does is,
/// and dropout that could not be drawn again.
std::optional<Substitute> attention(Arguments arguments) {
  const ops::AttentionOptions options = options_of(arguments);
  if (options.mask.defined() && options.mask.requires_grad()) return std::nullopt;
  for (const c10::IValue& x : arguments.slice(0, 3)) {
    if (!is_possible(x.toTensor())) return std::nullopt;
  }
  if (options.dropout > 0.0 && !ops::draws_alike(arguments[0].toTensor(), arguments[1].toTensor(),
                                                 arguments[2].toTensor(), options)) {
    return std::nullopt;
  }
  return [](Arguments given) -> torch::jit::Stack {
    return {ops::attention(given[0].toTensor(), given[1].toTensor(), given[2].toTensor(),
                           options_of(given))};
  };
}

}  // namespace

std::optional<Substitute> CompressionPolicy::activation(const Call& call,
                                                        const ActivationCall& activation) {
  const at::Tensor& x = call.arguments[0].toTensor();
  if (activation.obstacle != nullptr || reason_against(x, activation.function) != nullptr) {
    return std::nullopt;
  }
  if (is_too_small(x)) return std::nullopt;
  if (is_vanishing(activation.function) && scales_gradient(x)) return std::nullopt;
  const auto bits =
      compression_.activation_bits(activation, call.name(), x, user_.next_activation());
  if (!bits) return std::nullopt;
  if (bits->storage) {
    user_.keep_next_activation(*bits->storage);
    return std::nullopt;
  }
  const bool is_in_vain = !bits->is_given && !is_in_place(call.name()) &&
                          !keeps_output(activation.function) && user_.is_kept_exactly(x);
  if (bits->is_exact || is_in_vain) {
    user_.keep_next_activation_exact();
    return std::nullopt;
  }
  std::string reason;
  const std::optional<Table> table =
      standard_or_reason(activation.function, Bits{bits->count}, activation.parameters, reason);
  if (!table) return std::nullopt;
  user_.expect_activation(*table, bits->is_given, x);
  return few_bit_activation(call.operation, *table, user_.waits_for_codes_of(x));
}

std::optional<Substitute> CompressionPolicy::decide(const Call& call) {
  if (!compression_.codes_anything()) return std::nullopt;
  const bool is_log_softmax = call.name() == "aten::_log_softmax";
  if (is_log_softmax || call.name() == "aten::scaled_dot_product_attention") {
    if (compression_.leaves_alone(call.name())) return std::nullopt;
    return is_log_softmax ? log_softmax(call.arguments) : attention(call.arguments);
  }
  if (const auto known = activation_call(call.name(), call.arguments)) {
    return activation(call, *known);
  }
  Policy* const asked = PolicyStack::below(*this);
  return asked == nullptr ? std::nullopt : asked->decide(call);
}

// What saves other things while what is saved is coded: ops/recomputed.hpp.
TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericMode, m) {
  intercept(m, {"_log_softmax", "scaled_dot_product_attention"});
}

}  // namespace fewbit::session
