#include "dispatch/policy_stack.hpp"

#include <algorithm>

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include "dispatch/interception.hpp"
#include "trace/python_state.hpp"

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
  open_.push_back({policy, false, open_python_hooks()});
  set_thread();
}

void PolicyStack::watch(Policy* policy) {
  const std::lock_guard lock(mutex_);
  open_.push_back({policy, true, open_python_hooks()});
}

void PolicyStack::close(Policy* policy) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [&](const Entry& entry) { return entry.policy == policy; });
  // What another thread cannot reset, innermost() will.
  if (this_thread == this && is_alone()) reset_thread();
}

Policy* PolicyStack::innermost() noexcept {
  return this_thread == nullptr ? nullptr : this_thread->first_asked();
}

Policy* PolicyStack::below(const Policy& policy) noexcept {
  if (this_thread == nullptr) return nullptr;
  const std::lock_guard lock(this_thread->mutex_);
  const Entries& open = this_thread->open_;
  const auto found = this_thread->find(policy);
  if (found == open.end()) return nullptr;
  if (!found->watches) return last(open.begin(), found, false);
  Policy* const watching = last(open.begin(), found, true);
  return watching != nullptr ? watching : last(open.begin(), open.end(), false);
}

bool PolicyStack::is_any_above(const Policy& policy) noexcept {
  if (this_thread == nullptr) return false;
  const std::lock_guard lock(this_thread->mutex_);
  const auto end = this_thread->open_.end();
  return last(this_thread->find(policy), end, false) != nullptr;
}

Policy* PolicyStack::latest() noexcept {
  if (this_thread == nullptr) return nullptr;
  const std::lock_guard lock(this_thread->mutex_);
  const Entries& open = this_thread->open_;
  return open.empty() || open.back().watches ? nullptr : open.back().policy;
}

/// Of those that watch, or of the others; null: none.
Policy* PolicyStack::last(Entries::const_iterator begin, Entries::const_iterator end,
                          bool watches) {
  while (end != begin) {
    if ((--end)->watches == watches) return end->policy;
  }
  return nullptr;
}

/// There is nobody but those that watch.
bool PolicyStack::is_alone() const {
  return last(open_.begin(), open_.end(), false) == nullptr;
}

PolicyStack::Entries::const_iterator PolicyStack::find(const Policy& policy) const {
  return std::ranges::find(open_, &policy, &Entry::policy);
}

Policy* PolicyStack::first_asked() noexcept {
  const std::lock_guard lock(mutex_);
  if (is_alone()) {
    reset_thread();
    return nullptr;
  }
  if (is_traced() || open_python_hooks() > open_.back().python_hooks) return nullptr;
  Policy* const watching = last(open_.begin(), open_.end(), true);
  return watching != nullptr ? watching : last(open_.begin(), open_.end(), false);
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
