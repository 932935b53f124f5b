#pragma once

#include <cstdint>

namespace fewbit::kernels {

/// Widens kBlock elements of a type. For fp64 the smallest float not below the element (its
/// absolute value where the table is even), which compares with thresholds as the element does.
using LoadStage = void(const void* from, float* x);

/// Narrows kBlock elements to a type.
using StoreStage = void(const float* y, void* to);

/// Traffic of a pass in bytes from which on its output is stored past the caches.
inline constexpr int64_t kPastCacheBytes = int64_t{1} << 25;

}  // namespace fewbit::kernels
