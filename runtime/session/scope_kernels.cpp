// One kernel for torch's activations under the scope's key: few bits where the scope says so,
// torch's own otherwise. Everything else falls through.

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#include "fewbit/activation_scope.hpp"
#include "ops/activation.hpp"
#include "session/activation_call.hpp"
#include "session/scope_key.hpp"

namespace fewbit {

namespace {

std::optional<Table> table_for(const c10::FunctionSchema& schema, session::Arguments arguments) {
  ActivationScope* scope = ActivationScope::current();
  if (scope == nullptr) return std::nullopt;
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
  const at::Tensor x = arguments[0].toTensor();
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
  for (const char* name : session::kActivations) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&run>());
  }
}

}  // namespace fewbit
