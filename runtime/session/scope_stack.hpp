#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace fewbit {
class ActivationScope;
}

namespace fewbit::session {

/// The open scopes of one thread. While there are any, the thread's operations come by the scope's
/// kernels, and its scripts run without torch's optimiser.
class ScopeStack {
 public:
  static std::shared_ptr<ScopeStack> of_this_thread();

  /// In the stack's own thread.
  void open(ActivationScope* scope);
  /// Wherever it stands in the stack, in any thread.
  void close(ActivationScope* scope) noexcept;
  /// Of this thread; null where none is open.
  static ActivationScope* innermost() noexcept;

 private:
  ActivationScope* latest() noexcept;
  void set_thread() noexcept;
  void reset_thread() noexcept;

  std::mutex mutex_;
  std::vector<ActivationScope*> open_;
  bool thread_is_set_ = false;
  bool scripts_were_optimised_ = true;
};

}  // namespace fewbit::session
