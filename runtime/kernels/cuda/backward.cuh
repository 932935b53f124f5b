#pragma once

#include "kernels/cuda/arguments.hpp"
#include "kernels/cuda/tile.cuh"

/// dx = level of the code * dy, one kernel for each type and number of bits.
namespace fewbit::kernels::cuda {

/// Up to 32 levels lie in the lanes of a warp, repeated until they fill it, so that a shuffle,
/// which looks at the lower five bits of its index only, needs no mask; more lie in shared memory.
template <int kBits, bool kIsWarp = kBits <= 5>
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

template <ElementType kType, int kBits>
__device__ void backward_whole(const Tile& tile, const BackwardArguments& pass,
                               const LevelLookup<kBits>& level) {
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
      x[j] *= level(static_cast<uint32_t>(bits[v] >> j * kBits));
    }
    to[v * kLanes] = narrow<kType>(x);
  }
}

template <ElementType kType, int kBits>
__global__ void __launch_bounds__(kThreads, kBlocks)
    backward_kernel(const __grid_constant__ BackwardArguments pass,
                    const __grid_constant__ Levels levels) {
  const LevelLookup<kBits> level(levels);
  const Tile tile(pass.count);
  if (tile.count == kTile && pass.is_aligned) {
    backward_whole<kType, kBits>(tile, pass, level);
    return;
  }
  FEWBIT_KEEP_LOOP
  for (int i = tile.lane; i < tile.count; i += kLanes) {
    const uint32_t code = load_code(pass.codes, kBits, tile.begin + i);
    const float dy = load_element<kType>(pass.dy, tile.begin + i, false);
    store_element<kType>(pass.dx, tile.begin + i, levels.level[code] * dy);
  }
}

static __global__ void __launch_bounds__(kThreads)
    backward_doubles_kernel(const double* dy, const uint8_t* codes, double* dx, int64_t count,
                            int bits, const __grid_constant__ Levels levels) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) dx[i] = static_cast<double>(levels.level[load_code(codes, bits, i)]) * dy[i];
}

}  // namespace fewbit::kernels::cuda
