#pragma once

#include <cuda_runtime.h>

#include "kernels/quantizer/cuda/tile_words.hpp"

/// What the lanes of a group find together, in the order of rotated.hpp.
namespace fewbit::kernels::cuda {

/// `own` of all lanes of a group joined, the same for all of them.
template <int kGroup, class T, class Join>
__device__ T join_lanes(T own, Join join) {
  FEWBIT_UNROLL
  for (int distance = GroupLanes<kGroup>::kSpan / 2; distance > 0; distance /= 2) {
    own = join(own, __shfl_xor_sync(~0u, own, distance));
  }
  return own;
}

/// at(0) to at(kCount - 1) joined, the first and the last half with each other, and so on.
template <int kCount = kPerLane, class At, class Join>
__device__ auto join_own(At at, Join join) {
  if constexpr (kCount == 1) {
    return at(0);
  } else {
    constexpr int kUpper = kCount / 2;
    return join_own<kUpper>([&](int i) { return join(at(i), at(i + kUpper)); }, join);
  }
}

/// The sum of the lanes' at(0) to at(31).
template <int kGroup, class At>
__device__ float sum_group(At at) {
  const auto plus = [](float a, float b) { return a + b; };
  return join_lanes<kGroup>(join_own(at, plus), plus);
}

/// other + v, or other - v where the sign is -1: the product is exact.
__device__ inline float add_signed(float other, float v, float sign) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(v, sign, other);
#else
  return other + v * sign;
#endif
}

/// Has x computed here: left to itself a compiler moves the last sums to where they are used,
/// behind a loop or in between, and holds their operands, which take twice the registers.
__device__ inline void keep_here([[maybe_unused]] float (&x)[kPerLane]) {
#if defined(__CUDA_ARCH__)
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) asm volatile("" : "+f"(x[i]));
#endif
}

template <int kGroup>
__device__ void hadamard(const GroupLanes<kGroup>& at, float (&x)[kPerLane]) {
  FEWBIT_UNROLL
  for (int half = kPerLane / 2; half > 0; half /= 2) {
    FEWBIT_UNROLL
    for (int i = 0; i < kPerLane; ++i) {
      if ((i & half) != 0) continue;
      const float low = x[i];
      const float high = x[i + half];
      x[i] = low + high;
      x[i + half] = low - high;
    }
  }
  FEWBIT_UNROLL
  for (int distance = at.kSpan / 2; distance > 0; distance /= 2) {
    const float sign = (at.within & distance) != 0 ? -1.0f : 1.0f;
    FEWBIT_UNROLL
    for (int i = 0; i < kPerLane; ++i) {
      x[i] = add_signed(__shfl_xor_sync(~0u, x[i], distance), x[i], sign);
    }
  }
  keep_here(x);
}

}  // namespace fewbit::kernels::cuda
