#pragma once

#include <c10/util/FunctionRef.h>

#include "kernels/activation/activation.hpp"

namespace fewbit::ops {

/// Calls `body` with ranges that together cover [0, count), each element once, on torch's threads;
/// no two ranges share a byte of the code stream. For count = 0 there is no call. What `body`
/// throws comes out once all threads are done.
void for_ranges(int64_t count, c10::function_ref<void(const kernels::Range&)> body);

}  // namespace fewbit::ops
