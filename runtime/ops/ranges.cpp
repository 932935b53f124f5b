#include "ops/ranges.hpp"

#include <algorithm>

#include <ATen/Parallel.h>

namespace fewbit::ops {

void for_parts(int64_t count, int64_t grain, c10::function_ref<void(int64_t, int64_t)> body) {
  at::parallel_for(0, count, grain, body);
}

void for_ranges(int64_t count, c10::function_ref<void(const kernels::Range&)> body) {
  const int64_t blocks = (count + kernels::kBlock - 1) / kernels::kBlock;
  for_parts(blocks, kGrainElements / kernels::kBlock, [&](int64_t begin, int64_t end) {
    body(kernels::Range{begin * kernels::kBlock, std::min(end * kernels::kBlock, count), count});
  });
}

}  // namespace fewbit::ops
