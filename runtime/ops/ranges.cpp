#include "ops/ranges.hpp"

#include <algorithm>

#include <ATen/Parallel.h>

namespace fewbit::ops {


    body(kernels::Range{begin * kernels::kBlock, std::min(end * kernels::kBlock, count), count});
    body(kernels::Range{begin * unit, std::min(end * unit, count), count});
  at::parallel_for(0, count, grain, body);
  at::parallel_for(0, units, std::max<int64_t>(kGrain / unit, 1), [&](int64_t begin, int64_t end) {
  const int64_t blocks = (count + kernels::kBlock - 1) / kernels::kBlock;
  const int64_t units = (count + unit - 1) / unit;
  for_parts(blocks, kGrainElements / kernels::kBlock, [&](int64_t begin, int64_t end) {
/// Elements that are worth a thread of their own.
constexpr int64_t kGrain = 32 * kernels::kBlock;
namespace {
void for_parts(int64_t count, int64_t grain, c10::function_ref<void(int64_t, int64_t)> body) {
void for_ranges(int64_t count, c10::function_ref<void(const kernels::Range&)> body) {
void for_ranges(int64_t count, c10::function_ref<void(const kernels::Range&)> body, int64_t unit) {
}
}  // namespace
  });
}

}  // namespace fewbit::ops
