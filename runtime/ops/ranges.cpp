#include "ops/ranges.hpp"

#include <algorithm>

#include <ATen/Parallel.h>

namespace fewbit::ops {

void for_parts(int64_t count, int64_t grain, c10::function_ref<void(int64_t, int64_t)> body) {
  grain = std::max<int64_t>(grain, 1);
  // at::parallel_for would not start threads either, but its guards take longer than a tiny pass.
  if (count <= grain) {
    if (count > 0) body(0, count);
    return;
  }
  at::parallel_for(0, count, grain, body);
}

void for_ranges(int64_t count, c10::function_ref<void(const kernels::Range&)> body, int64_t unit) {
  const int64_t units = (count + unit - 1) / unit;
  for_parts(units, kGrainElements / unit, [&](int64_t begin, int64_t end) {
    body(kernels::Range{begin * unit, std::min(end * unit, count), count});
  });
}

}  // namespace fewbit::ops
