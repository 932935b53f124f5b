#include "session/scope_stack.hpp"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include "session/scope_key.hpp"

namespace fewbit::session {

namespace {

/// Without a destructor of its own, so that scopes that end after it (static ones) may still ask.
thread_local ScopeStack* this_thread = nullptr;

struct Owner {
  std::shared_ptr<ScopeStack> stack = std::make_shared<ScopeStack>();
  Owner() { this_thread = stack.get(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { this_thread = nullptr; }
};

}  // namespace

std::shared_ptr<ScopeStack> ScopeStack::of_this_thread() {
  static thread_local const Owner owner;
  return owner.stack;
}

void ScopeStack::open(ActivationScope* scope) {
  const std::lock_guard lock(mutex_);
  open_.push_back(scope);
  set_thread();
}

void ScopeStack::close(ActivationScope* scope) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(open_, scope);
  // What another thread cannot reset, innermost() will.
  if (this_thread == this && open_.empty()) reset_thread();
}

ActivationScope* ScopeStack::innermost() noexcept {
  return this_thread == nullptr ? nullptr : this_thread->latest();
}

ActivationScope* ScopeStack::latest() noexcept {
  const std::lock_guard lock(mutex_);
  if (!open_.empty()) return open_.back();
  reset_thread();
  return nullptr;
}

void ScopeStack::set_thread() noexcept {
  c10::impl::tls_set_dispatch_key_included(kScopeKey, true);
  if (thread_is_set_) return;
  thread_is_set_ = true;
  // An optimised script differentiates by formulas of its own and runs its activations without a
  // gradient: there would be nothing to replace.
  scripts_were_optimised_ = torch::jit::getGraphExecutorOptimize();
  torch::jit::setGraphExecutorOptimize(false);
}

void ScopeStack::reset_thread() noexcept {
  if (!thread_is_set_) return;
  thread_is_set_ = false;
  c10::impl::tls_set_dispatch_key_included(kScopeKey, false);
  torch::jit::setGraphExecutorOptimize(scripts_were_optimised_);
}

}  // namespace fewbit::session
