#pragma once

#include "kernels/quantizer/cuda/rotated_decode.cuh"
#include "kernels/quantizer/cuda/trellis_path.hpp"

/// Codes of a trellis to elements: a code's level depends on the codes before it in its group, of
/// which a lane's own 32 have all but the last three of the lane before.
namespace fewbit::kernels::cuda {

/// Bit i: the lowest of code i.
template <int kBits>
__device__ uint32_t lowest_bits(const uint32_t (&word)[kBits]) {
  if constexpr (kBits == 1) return word[0];
  uint32_t lowest = 0;
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) {
    const int at = i * kBits;
    const int down = at % 32 - i;
    const uint32_t moved = down < 0 ? word[at / 32] << -down : word[at / 32] >> down;
    lowest |= moved & 1u << i;
  }
  return lowest;
}

template <int kGroup, int kStates, int kBits>
__device__ void put_trellis_levels(const Tile& tile, const RotatedDecodeArguments& pass,
                                   const CodeLevels& levels, TileWords& words) {
  uint32_t word[kBits];
  load_words(tile, pass.codes, pass.codes_are_aligned, words, word);
  const uint32_t own = lowest_bits(word);
  const uint32_t neighbour = __shfl_sync(~0u, own, tile.lane - 1);
  const bool is_first = tile.lane % (kGroup / kPerLane) == 0;
  const SubsetBits subset = subset_bits<kStates>(own, is_first ? 0 : neighbour);
  FEWBIT_UNROLL
  for (int q = 0; q < kQuads; ++q) {
    Vector piece;
    FEWBIT_UNROLL
    for (int j = 0; j < 4; ++j) {
      const int i = 4 * q + j;
      // Four times what is 4 (code / 2) + subset.
      const uint32_t place = code_of<3>(word, i) & ~8u;
      const uint32_t low = rotated_right(subset.low, i - 2) & 4;
      const uint32_t high = rotated_right(subset.high, i - 3) & 8;
      piece.word[j] = bits_of(level_at(levels, place | low | high));
    }
    put_piece(tile.lane * kQuads + q, piece, words);
  }
}

template <int kGroup, int kStates>
__device__ void put_trellis_levels(const Tile& tile, const RotatedDecodeArguments& pass,
                                   const CodeLevels& levels, TileWords& words) {
  switch (pass.bits) {
    case 1:
      return put_trellis_levels<kGroup, kStates, 1>(tile, pass, levels, words);
    case 2:
      return put_trellis_levels<kGroup, kStates, 2>(tile, pass, levels, words);
    case 3:
      return put_trellis_levels<kGroup, kStates, 3>(tile, pass, levels, words);
    default:
      return put_trellis_levels<kGroup, kStates, 4>(tile, pass, levels, words);
  }
}

template <int kGroup>
__device__ void put_trellis_levels(const Tile& tile, const RotatedDecodeArguments& pass,
                                   const CodeLevels& levels, TileWords& words) {
  if (pass.states == 4) {
    put_trellis_levels<kGroup, 4>(tile, pass, levels, words);
  } else {
    put_trellis_levels<kGroup, 8>(tile, pass, levels, words);
  }
}

/// Each element's level by the codes before it, too.
template <int kGroup>
struct PutTrellisLevels {
  const RotatedDecodeArguments& pass;

  __device__ void operator()(const Tile& tile, const CodeLevels& levels, TileWords& words) const {
    put_trellis_levels<kGroup>(tile, pass, levels, words);
  }
};

template <ElementType kType, int kGroup>
__global__ void __launch_bounds__(kThreads, kBlocks)
    trellis_decode_kernel(const __grid_constant__ RotatedDecodeArguments pass,
                          const __grid_constant__ CodeLevels given) {
  decode_block<kType, kGroup>(pass, given, PutTrellisLevels<kGroup>{pass}, Unmapped{});
}

}  // namespace fewbit::kernels::cuda
