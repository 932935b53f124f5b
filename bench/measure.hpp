#pragma once

#include <chrono>
#include <ctime>

#include <malloc.h>

namespace fewbit::bench {

template <class Action>
double seconds_of(const Action& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of all threads of this process.
template <class Action>
double processor_seconds_of(const Action& action) {
  const std::clock_t start = std::clock();
  action();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// From then on tensors come from memory that was used before, as in training with a caching
/// allocator: else every large pass measures the kernel clearing pages.
inline void keep_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
}

}  // namespace fewbit::bench
