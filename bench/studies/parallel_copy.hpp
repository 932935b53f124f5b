#pragma once

#include <cstdint>

namespace fewbit::bench {

/// stream_copy in the threads of libtorch.
void parallel_copy(const uint8_t* from, uint8_t* to, int64_t bytes);

}  // namespace fewbit::bench
