#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace fewbit::test {

/// The most bytes that this thread's tensors hold at a time during `body`, beyond those before it.
template <class Body>
int64_t peak_bytes_of(const Body& body) {
  class Peak : public c10::MemoryReportingInfoBase {
   public:
    void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
      now_ += bytes;
      peak_ = std::max(peak_, now_);
    }
    bool memoryProfilingEnabled() const override { return true; }
    int64_t peak() const { return peak_; }

   private:
    int64_t now_ = 0;
    int64_t peak_ = 0;
  };
  const auto peak = std::make_shared<Peak>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, peak);
  body();
  return peak->peak();
}

}  // namespace fewbit::test
