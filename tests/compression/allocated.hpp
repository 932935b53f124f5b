#pragma once

#include <functional>
#include <optional>

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include "fewbit/compressor.hpp"
#include "meter/live_bytes.hpp"

namespace fewbit::test {

/// What a compressor holds from step to step.
inline int64_t bytes_of_directions(const Compressor* compressor) {
  int64_t bytes = 0;
  if (compressor == nullptr) return bytes;
  for (const Compressor::Site& site : compressor->sites()) bytes += site.bytes_of_directions;
  return bytes;
}

/// Bytes that are alive behind a forward and were not before, the result's own among them.
inline int64_t allocated(const std::function<at::Tensor()>& forward, Compressor* compressor) {
  int64_t bytes = 0;
  at::Tensor y;
  {
    const session::LiveBytes live("test", at::kCPU);
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      y = forward();
    }
    bytes = live.now();
    y = at::Tensor();
    EXPECT_LE(live.now(), bytes_of_directions(compressor)) << "is held by nobody's graph";
  }
  return bytes;
}

}  // namespace fewbit::test
