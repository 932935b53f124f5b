#pragma once

#include <cstdint>
#include <memory>

#include <c10/core/Device.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace fewbit::session {

/// Bytes that tensors of one device take while it lives, beyond those that they took when it was
/// made: of its thread, and of those to which torch or an offload hands on what the thread reports
/// to. Lives on its thread's stack; others may live within it.
class LiveBytes {
 public:
  /// Throws c10::Error naming the caller while a torch profiler records the thread.
  LiveBytes(const char* caller, c10::Device device);

  int64_t now() const;
  int64_t peak() const;

 private:
  class Reports;

  std::shared_ptr<Reports> reports_;
  c10::DebugInfoGuard guard_;
};

}  // namespace fewbit::session
