#pragma once

#include <cstdint>

#include <gtest/gtest.h>

#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/device.hpp"
#include "tests/stand_in/device/streams.hpp"

namespace fewbit::test {

using stand_in::kDevice;
using stand_in::NoWaiting;

inline constexpr int64_t kSlowness = 32;

class CudaTest : public testing::Test {
 protected:
  void SetUp() override { stand_in::set_order(GTEST_FLAG_GET(random_seed) + 1); }
};

}  // namespace fewbit::test
