#include "ops/ranges.hpp"

#include <algorithm>

#include <ATen/Parallel.h>

namespace fewbit::ops {

namespace {

/// Blocks that are worth a thread of their own.
constexpr int64_t kGrainBlocks = 32;

}  // namespace

void for_ranges(int64_t count, c10::function_ref<void(const kernels::Range&)> body) {
  const int64_t blocks = (count + kernels::kBlock - 1) / kernels::kBlock;
  at::parallel_for(0, blocks, kGrainBlocks, [&](int64_t begin, int64_t end) {
    body(kernels::Range{begin * kernels::kBlock, std::min(end * kernels::kBlock, count), count});
  });
}

}  // namespace fewbit::ops
