#pragma once

#include <c10/util/FunctionRef.h>

#include "kernels/stream/code_stream.hpp"

namespace fewbit::ops {

/// Calls `body` with ranges that together cover [0, count), each element once, on torch's threads;
/// no two ranges share a byte of the code stream. They begin at multiples of `unit`, itself one of
/// kBlock. For count = 0 there is no call. What `body` throws comes out once all threads are done.
void for_ranges(int64_t count, c10::function_ref<void(const kernels::Range&)> body,
                int64_t unit = kernels::kBlock);

/// Elements that are worth a thread of their own.
inline constexpr int64_t kGrainElements = 32 * kernels::kBlock;

/// The same for parts [begin, end) of [0, count), none but the last shorter than `grain`.
void for_parts(int64_t count, int64_t grain, c10::function_ref<void(int64_t, int64_t)> body);

}  // namespace fewbit::ops
