#pragma once

#include <cstddef>
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
  /// The same of one that is asked before all others, also before those that are opened later, but
  /// not where it is alone.
  void watch(Policy* policy);
  /// Wherever it stands in the stack, in any thread.
  void close(Policy* policy) noexcept;
  /// Whom this thread asks first; null: none. So where Python opened hooks on saved tensors since
  /// the latest one came, as its checkpoints do, and while torch.compile traces.
  static Policy* innermost() noexcept;
  /// Whom this thread asks after that one; null: none.
  static Policy* below(const Policy& policy) noexcept;
  /// Whether this thread opened another one, which is still open, after that one.
  static bool is_any_above(const Policy& policy) noexcept;
  /// The latest of this thread, unless somebody watches since then; null: none.
  static Policy* latest() noexcept;

 private:
  struct Entry {
    Policy* policy;
    bool watches;
    std::size_t python_hooks;  ///< pairs that were open when it came
  };
  using Entries = std::vector<Entry>;

  static Policy* last(Entries::const_iterator begin, Entries::const_iterator end, bool watches);
  bool is_alone() const;
  Entries::const_iterator find(const Policy& policy) const;
  Policy* first_asked() noexcept;
  void set_thread() noexcept;
  void reset_thread() noexcept;

  std::mutex mutex_;
  Entries open_;  ///< in the order of opening
  bool thread_is_set_ = false;
  bool scripts_were_optimised_ = true;
};

}  // namespace fewbit::session
