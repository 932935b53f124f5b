// One kernel for all operations that some policy knows; everything else falls through.

#include "dispatch/interception.hpp"

#include <torch/library.h>

#include "dispatch/policy_stack.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

namespace {

/// Below autograd another operation of torch's computes, and saves for backward what it needs.
bool is_part_of_an_operation() {
  return c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutogradFunctionality);
}

std::optional<Substitute> substitute_for(const Call& call) {
  Policy* const policy = PolicyStack::innermost();
  if (policy == nullptr || is_part_of_an_operation()) return std::nullopt;
  return policy->decide(call);
}

void run(const c10::OperatorHandle& operation, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  const size_t count = operation.schema().arguments().size();
  const Call call{operation, Arguments(stack->data() + stack->size() - count, count)};
  const std::optional<Substitute> substitute = substitute_for(call);
  if (!substitute) {
    // The same call, which whoever follows or profiles operations heard of already.
    constexpr c10::DispatchKeySet kBelow(c10::DispatchKeySet::FULL_AFTER, kInterceptionKey);
    return operation.redispatchBoxed(keys & kBelow, stack);
  }
  torch::jit::Stack results = (*substitute)(call.arguments);
  if (is_in_place(call.name())) {
    const at::Tensor changed = call.arguments[0].toTensor();
    // Nothing of it is left, so no gradient of zeros has to go back to what it was.
    const bool is_forgotten = results[0].toTensor().requires_grad() && !changed.is_leaf() &&
                              !changed.is_view() && !changed.retains_grad();
    if (is_forgotten) changed.detach_();
    results[0] = changed.copy_(results[0].toTensor());
  }
  torch::jit::drop(stack, count);
  stack->insert(stack->end(), results.begin(), results.end());
}

}  // namespace

void intercept(torch::Library& library, const std::vector<std::string>& operations) {
  for (const std::string& name : operations) {
    library.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&run>());
  }
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

}  // namespace fewbit::session
