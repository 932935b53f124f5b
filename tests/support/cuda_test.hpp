#pragma once

#include <cstdint>

#include <c10/core/Device.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

namespace fewbit::test {

/// Of tests that run on a GPU, and on the stand-in for one (tests/stand_in/in_place_of_cuda has
/// what stands there in the place of this file).
inline constexpr c10::DeviceType kDevice = c10::kCUDA;

/// A device that computes slowly has this many times fewer elements.
inline constexpr int64_t kSlowness = 1;

/// Tests of tensors on a GPU: skipped, with the reason, where libtorch sees none.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "libtorch sees no CUDA device";
  }
};

/// Makes every wait of torch's for a device an error, as long as it lives.
class NoWaiting {
 public:
  NoWaiting() { set(c10::cuda::SyncDebugMode::L_ERROR); }
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
  ~NoWaiting() { set(c10::cuda::SyncDebugMode::L_DISABLED); }

 private:
  static void set(c10::cuda::SyncDebugMode mode) {
    c10::cuda::warning_state().set_sync_debug_mode(mode);
  }
};

}  // namespace fewbit::test
