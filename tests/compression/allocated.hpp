#pragma once

#include <functional>
#include <optional>

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include "fewbit/compressor.hpp"
#include "tests/support/peak_bytes.hpp"

namespace fewbit::test {

/// Bytes that are alive behind a forward and were not before, the result's own among them.
inline int64_t allocated(const std::function<at::Tensor()>& forward, Compressor* compressor) {
  int64_t bytes = 0;
  at::Tensor y;
  {
    const LiveBytes live;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      y = forward();
    }
    bytes = live.bytes();
    y = at::Tensor();
    EXPECT_LE(live.bytes(), 0) << "is held by nobody's graph";
  }
  return bytes;
}

}  // namespace fewbit::test
