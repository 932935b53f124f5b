#pragma once

#include "kernels/activation/cuda/arguments.hpp"
#include "kernels/stream/cuda/tile.cuh"

/// dx = level of the code * dy, one kernel for each type and number of bits.
namespace fewbit::kernels::cuda {

/// Up to 32 levels lie in the lanes of a warp, repeated until they fill it, so that a shuffle,
/// which looks at the lower five bits of its index only, needs no mask; more lie in shared memory.
template <int kBits, bool kIsWarp>
class LevelLookup {
 public:
  __device__ explicit LevelLookup(const Levels& levels)
      : own_(levels.level[threadIdx.x % (1u << kBits)]) {}

  __device__ float operator()(uint32_t code) const {
    return __shfl_sync(~0u, own_, static_cast<int>(code));
  }

 private:
  float own_;
};

template <int kBits>
class LevelLookup<kBits, false> {
 public:
  __device__ explicit LevelLookup(const Levels& levels) {
    __shared__ float level[1 << kBits];
    for (unsigned i = threadIdx.x; i < 1u << kBits; i += kThreads) level[i] = levels.level[i];
    __syncthreads();
    level_ = level;
  }

  __device__ float operator()(uint32_t code) const { return level_[code % (1u << kBits)]; }

 private:
  const float* level_;
};

/// Products with zero levels leave no register for the lane's own of 32 levels.
template <int kBits, bool kZeros>
using Lookup = LevelLookup<kBits, kBits <= (kZeros ? 4 : 5)>;

/// level * dy. With kZeros levels may be zero, which infinite dy and NaN do not pass.
template <bool kZeros, class Real>
FEWBIT_HD Real product(Real level, Real dy) {
  return level * (kZeros && level == Real{0} ? Real{0} : dy);
}

template <ElementType kType, int kBits, bool kZeros>
__device__ void backward_whole(const Tile& tile, const BackwardArguments& pass,
                               const Lookup<kBits, kZeros>& level) {
  const VectorCodes<kType, kBits> codes(tile.lane);
  const auto* words = reinterpret_cast<const uint32_t*>(pass.codes) + tile.begin / 32 * kBits;
  const Vector* const from = vectors_of<kType>(pass.dy, tile);
  Vector vector[kVectors<kType>];
  uint64_t bits[kVectors<kType>];
  FEWBIT_UNROLL
  for (int v = 0; v < kVectors<kType>; ++v) {
    vector[v] = from[v * kLanes];
    bits[v] = codes.load(words + v * codes.kStride);
  }
  Vector* const to = vectors_of<kType>(pass.dx, tile);
  FEWBIT_UNROLL
  for (int v = 0; v < kVectors<kType>; ++v) {
    float x[kPerVector<kType>];
    widen<kType>(vector[v], x);
    FEWBIT_UNROLL
    for (int j = 0; j < kPerVector<kType>; ++j) {
      x[j] = product<kZeros>(level(static_cast<uint32_t>(bits[v] >> j * kBits)), x[j]);
    }
    to[v * kLanes] = narrow<kType>(x);
  }
}

/// A kernel of its own for tables with zero levels: a branch between both costs registers.
template <ElementType kType, int kBits, bool kZeros>
__global__ void __launch_bounds__(kThreads, kBlocks)
    backward_kernel(const __grid_constant__ BackwardArguments pass,
                    const __grid_constant__ Levels levels) {
  const Lookup<kBits, kZeros> level(levels);
  const Tile tile(pass.count);
  if (tile.count == kTile && pass.is_aligned) {
    backward_whole<kType, kBits, kZeros>(tile, pass, level);
    return;
  }
  FEWBIT_KEEP_LOOP
  for (int i = tile.lane; i < tile.count; i += kLanes) {
    const uint32_t code = load_code(pass.codes, kBits, tile.begin + i);
    const float dy = load_element<kType>(pass.dy, tile.begin + i);
    store_element<kType>(pass.dx, tile.begin + i, product<kZeros>(levels.level[code], dy));
  }
}

static __global__ void __launch_bounds__(kThreads)
    backward_doubles_kernel(const double* dy, const uint8_t* codes, double* dx, int64_t count,
                            int bits, const __grid_constant__ WideLevels levels) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const double level = levels.level[load_code(codes, bits, i)];
  dx[i] = levels.has_zero ? product<true>(level, dy[i]) : level * dy[i];
}

}  // namespace fewbit::kernels::cuda
