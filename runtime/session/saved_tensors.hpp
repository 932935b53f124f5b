#pragma once

namespace fewbit::session {

// Holds the metering engine in the place of libtorch's own for as long as one of them lives, in any
// thread. Throws c10::Error where the process runs another engine, such as Python's, or where hooks
// on saved tensors are disabled in this thread.
class MeteringEngineUse {
 public:
  MeteringEngineUse();
  ~MeteringEngineUse();
  MeteringEngineUse(const MeteringEngineUse&) = delete;
  MeteringEngineUse& operator=(const MeteringEngineUse&) = delete;
};

}  // namespace fewbit::session
