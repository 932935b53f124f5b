#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace fewbit::session {

/// While it lives a step's peak is measured on this thread, and who takes part in the step may ask
/// to be told of it. Lives on its thread's stack; others may live within it.
class StepPeak {
 public:
  StepPeak();
  ~StepPeak();
  StepPeak(const StepPeak&) = delete;
  StepPeak& operator=(const StepPeak&) = delete;

  /// Null: nobody measures.
  static StepPeak* of_this_thread();

  void when_known(std::function<void(int64_t bytes)> tell) { asked_.push_back(std::move(tell)); }
  void tell(int64_t bytes) const;

 private:
  StepPeak* outer_;
  std::vector<std::function<void(int64_t)>> asked_;
};

}  // namespace fewbit::session
