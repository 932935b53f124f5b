#pragma once

#include <cstddef>
#include <functional>

namespace fewbit::solver {

/// Called after each finished piece of work, one call at a time: how many of how many are done.
using ProgressCall = std::function<void(size_t done, size_t total)>;

/// Runs work(0) ... work(count - 1) on all cores; each index once, in any order. The exception of
/// the smallest index that failed is thrown once all threads have stopped.
void parallel_for(size_t count, const std::function<void(size_t)>& work,
                  const ProgressCall& progress = {});

}  // namespace fewbit::solver
