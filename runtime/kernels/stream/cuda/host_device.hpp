#pragma once

/// Loops over registers have to be unrolled, loops that are rarely run should not be. Host
/// compilers do not know the pragma.
#if defined(__CUDA_ARCH__)
#define FEWBIT_UNROLL _Pragma("unroll")
#define FEWBIT_KEEP_LOOP _Pragma("unroll 1")
#else
#define FEWBIT_UNROLL
#define FEWBIT_KEEP_LOOP
#endif

#include "kernels/element_type.hpp"
#include "kernels/host_device.hpp"
#include "kernels/stream/code_stream.hpp"

namespace fewbit::kernels::cuda {

/// What a warp works on together: 32 consecutive elements for each lane, once the codes are sorted.
inline constexpr int kLanes = 32;
inline constexpr int kPerLane = 32;
inline constexpr int kTile = kLanes * kPerLane;

/// Codes leave a thread as quads: those of four neighbours, bits apart, in one word.
inline constexpr int kQuads = kPerLane / 4;

}  // namespace fewbit::kernels::cuda
