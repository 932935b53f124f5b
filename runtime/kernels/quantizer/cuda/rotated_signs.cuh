#pragma once

#include "kernels/philox.hpp"
#include "kernels/quantizer/cuda/group_lanes.cuh"
#include "kernels/quantizer/group_factor.hpp"
#include "kernels/stream/cuda/tile.cuh"

/// The sign stream of rotated.hpp, of the tiles of a block.
namespace fewbit::kernels::cuda {

/// Bit e % 32 of word e / 32 is the sign of element e of the block.
struct BlockSigns {
  uint32_t word[kWarps * kTile / 32];
  uint32_t of_pair[kWarps * kTile / 64];  ///< a random word for a group that begins there
};

/// By all threads of a block; they have to wait before they read.
__device__ inline void draw_signs(const DevicePhilox& random, BlockSigns& signs) {
  const int draw = static_cast<int>(threadIdx.x);
  if (draw >= kWarps * kTile / 128) return;
  const uint64_t first = random.first + uint64_t{blockIdx.x} * (kWarps * kTile / 128);
  const PhiloxWords words =
      philox(first + static_cast<uint64_t>(draw), random.offset, *random.seed);
  FEWBIT_UNROLL
  for (int i = 0; i < 4; ++i) signs.word[4 * draw + i] = words.word[i];
  FEWBIT_UNROLL
  for (int i = 0; i < 2; ++i) {
    signs.of_pair[2 * draw + i] = word_of_signs(words.word[2 * i], words.word[2 * i + 1]);
  }
}

/// The thread's place in its block, asked of the device again: no register holds it until here.
__device__ inline unsigned thread_anew() {
#if defined(__CUDA_ARCH__)
  unsigned thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
#else
  return threadIdx.x;
#endif
}

/// The random word of a lane's group.
template <int kGroup>
__device__ uint32_t word_of_group(const BlockSigns& signs, const GroupLanes<kGroup>& at) {
  const volatile uint32_t* const words = signs.of_pair;
  return words[thread_anew() / kLanes * (kTile / 64) +
               static_cast<unsigned>(at.group * (kGroup / 64))];
}

/// Those of a lane's elements.
template <int kGroup>
class LaneSigns {
 public:
  __device__ LaneSigns(const BlockSigns& signs, const GroupLanes<kGroup>& at)
      : words_(signs.word + threadIdx.x / kLanes * (kTile / 32) + at.group * (kGroup / 32)),
        within_(at.within) {}

  /// x, turned round where the sign of element i and `mask` are set.
  __device__ float turned(float x, int i, uint32_t mask = 1u << 31) const {
    constexpr int kSpan = GroupLanes<kGroup>::kSpan;
    const uint32_t word = words_[i * kSpan / 32] >> within_;
    return float_of(bits_of(x) ^ (word << (31 - i * kSpan % 32) & mask));
  }

 private:
  const uint32_t* words_;
  int within_;
};

}  // namespace fewbit::kernels::cuda
