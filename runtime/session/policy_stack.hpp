#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace fewbit::session {

class Policy;

/// The open policies of one thread. While there are any, the thread's operations are intercepted,
/// and its scripts run without torch's optimiser.
class PolicyStack {
 public:
  static std::shared_ptr<PolicyStack> of_this_thread();

  /// In the stack's own thread.
  void open(Policy* policy);
  /// Wherever it stands in the stack, in any thread.
  void close(Policy* policy) noexcept;
  /// Of this thread; null where none is open.
  static Policy* innermost() noexcept;
  /// Of this thread, opened before that one; null where none was.
  static Policy* below(const Policy& policy) noexcept;

 private:
  Policy* latest() noexcept;
  void set_thread() noexcept;
  void reset_thread() noexcept;

  std::mutex mutex_;
  std::vector<Policy*> open_;
  bool thread_is_set_ = false;
  bool scripts_were_optimised_ = true;
};

}  // namespace fewbit::session
