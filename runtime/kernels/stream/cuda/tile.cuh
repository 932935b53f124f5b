#pragma once

#include <cuda_runtime.h>

#include "kernels/stream/cuda/stream.hpp"

/// What a warp reads and writes of its tile.
namespace fewbit::kernels::cuda {

inline constexpr int kWarps = 8;
inline constexpr int kThreads = kWarps * kLanes;

/// So many blocks share a multiprocessor: half of its threads, with 64 registers each.
inline constexpr int kBlocks = 4;

inline unsigned grid_of(int64_t count) {
  constexpr int64_t kPerBlock = int64_t{kWarps} * kTile;
  return static_cast<unsigned>((count + kPerBlock - 1) / kPerBlock);
}

/// The tile of a warp: `count` elements from `begin` on, fewer than kTile at the end of a pass and
/// none beyond it.
struct Tile {
  int lane;
  int count;
  int64_t begin;

  __device__ explicit Tile(int64_t total)
      : lane(static_cast<int>(threadIdx.x % kLanes)),
        begin((int64_t{blockIdx.x} * kWarps + threadIdx.x / kLanes) * kTile) {
    const int64_t rest = total - begin;
    count = rest >= kTile ? kTile : rest > 0 ? static_cast<int>(rest) : 0;
  }

  /// The same, asked of the device again: what is addressed by it takes no registers until here.
  __device__ Tile anew() const {
    Tile same = *this;
#if defined(__CUDA_ARCH__)
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(same.lane));
    asm volatile("mov.b64 %0, %1;" : "=l"(same.begin) : "l"(begin));
#endif
    return same;
  }
};

template <class... Parameter, class... Argument>
cudaError_t launch(void (*kernel)(Parameter...), dim3 blocks, cudaStream_t stream,
                   const Argument&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <class... Parameter, class... Argument>
cudaError_t launch(void (*kernel)(Parameter...), int64_t blocks, cudaStream_t stream,
                   const Argument&... arguments) {
  return launch(kernel, dim3(static_cast<unsigned>(blocks)), stream, arguments...);
}

template <ElementType kType>
__device__ const Vector* vectors_of(const void* from, const Tile& tile) {
  return static_cast<const Vector*>(from) + tile.begin / kPerVector<kType> + tile.lane;
}

template <ElementType kType>
__device__ Vector* vectors_of(void* to, const Tile& tile) {
  return static_cast<Vector*>(to) + tile.begin / kPerVector<kType> + tile.lane;
}

/// By all threads of a block.
template <class Table>
__device__ void copy_to_shared(const Table& from, Table& to) {
  static_assert(sizeof(Table) % 4 == 0);
  for (int i = static_cast<int>(threadIdx.x); i < static_cast<int>(sizeof(Table) / 4);
       i += kThreads) {
    reinterpret_cast<uint32_t*>(&to)[i] = reinterpret_cast<const uint32_t*>(&from)[i];
  }
  __syncthreads();
}

/// Makes the stream of a tile, of which each lane has the quads of 32 neighbours, and writes it: by
/// vectors where the tile is whole and the stream aligned, else by bytes, with the zeros at the end
/// of the stream. All lanes are done with what `codes` held.
__device__ inline void store_quads(const Tile& tile, int bits, bool is_whole,
                                   const uint32_t (&quad)[kQuads], TileCodes& codes,
                                   uint8_t* stream) {
  put_words(tile.lane, bits, quad, codes);
  __syncwarp();
  uint8_t* const to = stream + tile.begin / 8 * bits;
  if (is_whole) {
    const auto* vectors = reinterpret_cast<const Vector*>(codes.word);
    FEWBIT_KEEP_LOOP
    for (int i = tile.lane; i < kTile / 128 * bits; i += kLanes) {
      reinterpret_cast<Vector*>(to)[i] = vectors[i];
    }
  } else {
    const auto* bytes = reinterpret_cast<const uint8_t*>(codes.word);
    const int count = static_cast<int>(code_bytes(tile.count, bits));
    FEWBIT_KEEP_LOOP
    for (int i = tile.lane; i < count; i += kLanes) to[i] = bytes[i];
  }
}

/// The same of quads that lie in `codes`.
__device__ inline void store_codes(const Tile& tile, int bits, bool is_whole, TileCodes& codes,
                                   uint8_t* stream) {
  __syncwarp();
  uint32_t quad[kQuads];
  get_quads(tile.lane, codes, quad);
  __syncwarp();
  store_quads(tile, bits, is_whole, quad, codes, stream);
}

}  // namespace fewbit::kernels::cuda
