#include "trace/step_peak.hpp"

#include <utility>

namespace fewbit::session {

namespace {

thread_local StepPeak* current = nullptr;

}  // namespace

StepPeak::StepPeak() : outer_(std::exchange(current, this)) {}

StepPeak::~StepPeak() {
  current = outer_;
}

StepPeak* StepPeak::of_this_thread() {
  return current;
}

void StepPeak::tell(int64_t bytes) const {
  for (const auto& one : asked_) one(bytes);
}

}  // namespace fewbit::session
