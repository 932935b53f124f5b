#pragma once

#include <gtest/gtest.h>
#include <torch/cuda.h>

namespace fewbit::test {

/// Tests of tensors on a GPU: skipped, with the reason, where libtorch sees none.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "libtorch sees no CUDA device";
  }
};

}  // namespace fewbit::test
