#include "session/policy_stack.hpp"

#include <algorithm>
#include <iterator>

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include "session/interception.hpp"

namespace fewbit::session {

namespace {

/// Without a destructor of its own, so that policies that end after it (static ones) may still ask.
thread_local PolicyStack* this_thread = nullptr;

struct Owner {
  std::shared_ptr<PolicyStack> stack = std::make_shared<PolicyStack>();
  Owner() { this_thread = stack.get(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { this_thread = nullptr; }
};

}  // namespace

std::shared_ptr<PolicyStack> PolicyStack::of_this_thread() {
  static thread_local const Owner owner;
  return owner.stack;
}

void PolicyStack::open(Policy* policy) {
  const std::lock_guard lock(mutex_);
  open_.push_back(policy);
  set_thread();
}

void PolicyStack::close(Policy* policy) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(open_, policy);
  // What another thread cannot reset, innermost() will.
  if (this_thread == this && open_.empty()) reset_thread();
}

Policy* PolicyStack::innermost() noexcept {
  return this_thread == nullptr ? nullptr : this_thread->latest();
}

Policy* PolicyStack::below(const Policy& policy) noexcept {
  if (this_thread == nullptr) return nullptr;
  const std::lock_guard lock(this_thread->mutex_);
  const std::vector<Policy*>& open = this_thread->open_;
  const auto found = std::ranges::find(open, &policy);
  return found == open.begin() || found == open.end() ? nullptr : *std::prev(found);
}

Policy* PolicyStack::latest() noexcept {
  const std::lock_guard lock(mutex_);
  if (!open_.empty()) return open_.back();
  reset_thread();
  return nullptr;
}

void PolicyStack::set_thread() noexcept {
  c10::impl::tls_set_dispatch_key_included(kInterceptionKey, true);
  if (thread_is_set_) return;
  thread_is_set_ = true;
  // An optimised script differentiates by formulas of its own and runs its activations without a
  // gradient: there would be nothing to replace.
  scripts_were_optimised_ = torch::jit::getGraphExecutorOptimize();
  torch::jit::setGraphExecutorOptimize(false);
}

void PolicyStack::reset_thread() noexcept {
  if (!thread_is_set_) return;
  thread_is_set_ = false;
  c10::impl::tls_set_dispatch_key_included(kInterceptionKey, false);
  torch::jit::setGraphExecutorOptimize(scripts_were_optimised_);
}

}  // namespace fewbit::session
