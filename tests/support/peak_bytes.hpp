#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace fewbit::test {

/// Bytes that this thread's tensors take, beyond those that they took when it was made. One at a
/// time.
class LiveBytes {
 public:
  int64_t bytes() const { return reports_->now; }
  int64_t peak() const { return reports_->peak; }

 private:
  struct Reports : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
      now += bytes;
      peak = std::max(peak, now);
    }
    bool memoryProfilingEnabled() const override { return true; }

    int64_t now = 0;
    int64_t peak = 0;
  };

  std::shared_ptr<Reports> reports_ = std::make_shared<Reports>();
  c10::DebugInfoGuard guard_{c10::DebugInfoKind::PROFILER_STATE, reports_};
};

/// The most bytes that this thread's tensors hold at a time during `body`, beyond those before it.
template <class Body>
int64_t peak_bytes_of(const Body& body) {
  const LiveBytes live;
  body();
  return live.peak();
}

}  // namespace fewbit::test
