#include "trace/saved_tensor_users.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/saved_tensors.hpp"

namespace fewbit::session {

namespace {

/// Without a destructor of its own, so that uses that end after it (static ones) may still ask.
thread_local const UserStack* this_thread = nullptr;

struct Owner {
  std::shared_ptr<UserStack> stack = std::make_shared<UserStack>();
  Owner() { this_thread = stack.get(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { this_thread = nullptr; }
};

}  // namespace

const std::shared_ptr<UserStack>& UserStack::of_this_thread() {
  static thread_local const Owner owner;
  return owner.stack;
}

bool UserStack::is_of_this_thread() const noexcept {
  return this_thread == this;
}

void UserStack::open(std::shared_ptr<SavedTensorUser> user) {
  const std::lock_guard lock(mutex_);
  open_.push_back(std::move(user));
}

void UserStack::close(const std::shared_ptr<SavedTensorUser>& user) noexcept {
  const std::lock_guard lock(mutex_);
  const auto last = std::find(open_.rbegin(), open_.rend(), user);
  if (last != open_.rend()) open_.erase(std::next(last).base());
}

bool UserStack::is_empty() const {
  const std::lock_guard lock(mutex_);
  return open_.empty();
}

bool UserStack::any_holds(std::string_view operation) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(open_, [&](const auto& user) { return user->holds(operation); });
}

UserStack::Users UserStack::all() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

UserStack::Users UserStack::each() const {
  const std::lock_guard lock(mutex_);
  Users each;
  for (const auto& user : open_) {
    if (std::ranges::find(each, user) == each.end()) each.push_back(user);
  }
  return each;
}

void UserStack::keep_failure(std::exception_ptr failure) noexcept {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
}

void UserStack::rethrow_failure() {
  std::unique_lock lock(mutex_);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  lock.unlock();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace fewbit::session
