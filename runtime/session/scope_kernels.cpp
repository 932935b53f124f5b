// One kernel for torch's activations under the scope's key: few bits where the scope says so,
// torch's own otherwise. Everything else falls through.

#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#include "fewbit/activation_scope.hpp"
#include "ops/activation.hpp"
#include "session/activation_call.hpp"
#include "session/scope_key.hpp"

namespace fewbit {

namespace {

/// Below autograd another operation of torch's computes, and keeps for backward what it needs.
bool is_part_of_an_operation() {
  return c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutogradFunctionality);
}

/// What autocast, whose turn comes after the scope's, hands to torch's own function. Of ours it
/// knows softplus alone, on CUDA, to compute in float32.
at::Tensor autocast(const c10::OperatorHandle& operation, const at::Tensor& x) {
  const at::DeviceType device = x.device().type();
  if (!at::autocast::is_autocast_available(device)) return x;
  if (!at::autocast::is_autocast_enabled(device)) return x;
  const auto key = at::autocast::get_autocast_dispatch_key_from_device_type(device);
  if (!operation.hasKernelForDispatchKey(key)) return x;
  return at::autocast::cached_cast(at::kFloat, x, device);
}

std::optional<Table> table_for(const c10::FunctionSchema& schema, session::Arguments arguments) {
  ActivationScope* scope = ActivationScope::current();
  if (scope == nullptr || is_part_of_an_operation()) return std::nullopt;
  const auto call = session::activation_call(schema.name(), arguments);
  TORCH_INTERNAL_ASSERT(call, schema.name());
  const at::Tensor& x = arguments[0].toTensor();
  if (call->obstacle == nullptr) return scope->table_for(x, call->function, call->parameters);
  scope->note_left_alone(x, call->function, call->obstacle);
  return std::nullopt;
}

void run(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard guard(kScopeKey);
  const c10::FunctionSchema& schema = operation.schema();
  const size_t count = schema.arguments().size();
  const session::Arguments arguments(stack->data() + stack->size() - count, count);
  const std::optional<Table> table = table_for(schema, arguments);
  if (!table) return operation.callBoxed(stack);
  const at::Tensor x = autocast(operation, arguments[0].toTensor());
  torch::jit::drop(stack, count);
  at::Tensor y = ops::activation(session::in_torchs_layout(x, table->function()), *table);
  // In place x takes the value, and the graph runs through the few-bit operation.
  stack->emplace_back(session::is_in_place(schema.name()) ? x.copy_(y) : std::move(y));
}

}  // namespace

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericMode, m) {
  for (const std::string& name : session::activation_operations()) {
    m.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&run>());
  }
}

}  // namespace fewbit
