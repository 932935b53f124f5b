#pragma once

#include "kernels/quantizer/cuda/rotated_arguments.hpp"
#include "kernels/quantizer/cuda/rotated_elements.hpp"
#include "kernels/quantizer/cuda/rotated_launch.hpp"
#include "kernels/quantizer/cuda/rotated_signs.cuh"
#include "kernels/quantizer/cuda/rotated_together.cuh"
#include "kernels/quantizer/cuda/tile_words.cuh"

/// Codes of rotated groups to elements, a warp a tile: the levels of a lane's 32 neighbours, all
/// lanes' levels to where GroupLanes has them, and elements back to their own order.
namespace fewbit::kernels::cuda {

__device__ inline float level_at(const CodeLevels& levels, uint32_t bytes) {
  return *reinterpret_cast<const float*>(reinterpret_cast<const char*>(levels.level) + bytes);
}

/// Each element's level by its own code.
template <int kBits>
__device__ void put_levels(const Tile& tile, const RotatedDecodeArguments& pass,
                           const CodeLevels& levels, TileWords& words) {
  uint32_t word[kBits];
  load_words(tile, pass.codes, pass.codes_are_aligned, words, word);
  FEWBIT_UNROLL
  for (int q = 0; q < kQuads; ++q) {
    Vector piece;
    FEWBIT_UNROLL
    for (int j = 0; j < 4; ++j) {
      piece.word[j] = bits_of(level_at(levels, code_of<2>(word, 4 * q + j)));
    }
    put_piece(tile.lane * kQuads + q, piece, words);
  }
}

__device__ inline void put_levels(const Tile& tile, const RotatedDecodeArguments& pass,
                                  const CodeLevels& levels, TileWords& words) {
  switch (pass.bits) {
    case 1:
      return put_levels<1>(tile, pass, levels, words);
    case 2:
      return put_levels<2>(tile, pass, levels, words);
    case 3:
      return put_levels<3>(tile, pass, levels, words);
    case 4:
      return put_levels<4>(tile, pass, levels, words);
    case 5:
      return put_levels<5>(tile, pass, levels, words);
    case 6:
      return put_levels<6>(tile, pass, levels, words);
    case 7:
      return put_levels<7>(tile, pass, levels, words);
    default:
      return put_levels<8>(tile, pass, levels, words);
  }
}

/// Rotated levels to elements, in `words`.
template <ElementType kType, int kGroup>
__device__ void put_decoded(const GroupLanes<kGroup>& at, const KeptGroup& kept,
                            const LaneSigns<kGroup>& signs, TileWords& words,
                            const float (&q)[kPerLane]) {
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) {
    const float x = kept.mean + kept.factor * signs.turned(q[i], i);
    at.word(i, words) = bits_of(clamped<kType>(x));
  }
}

template <ElementType kType, int kGroup>
__device__ void store_elements(const GroupLanes<kGroup>& at, const Tile& tile,
                               const RotatedDecodeArguments& pass, int exponent, TileWords& words) {
  FEWBIT_KEEP_LOOP
  for (int i = 0; i < kPerLane; ++i) {
    const int64_t e = tile.begin + at.element(i);
    if (e < pass.count) store_decoded<kType>(pass.x, e, float_of(at.word(i, words)), exponent);
  }
}

/// Decoded elements as they are.
struct AsDecoded {
  __device__ void map(TileWords& /*words*/) const {}
};

/// The levels in `words` to elements, which `last` maps.
template <ElementType kType, int kGroup, class Last = AsDecoded>
__device__ void decode_levels(const Tile& tile, const RotatedDecodeArguments& pass,
                              const BlockSigns& block_signs, TileWords& words,
                              const Last& last = {}) {
  const GroupLanes<kGroup> at(tile.lane);
  float q[kPerLane];
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) q[i] = float_of(at.word(i, words));
  const LaneSigns<kGroup> signs(block_signs, at);
  hadamard(at, q);
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) q[i] = signs.turned(q[i], i) * (1.0f / kGroup);
  hadamard(at, q);
  KeptGroup kept = {};
  if (at.group * kGroup < tile.count) {
    kept = load_kept<kType>(pass.constants, tile.begin / kGroup + at.group);
  }
  put_decoded<kType>(at.anew(), kept, signs, words, q);
  last.map(words);
  bool is_vectors = false;
  if constexpr (kType != ElementType::f64) {
    // A NaN is stored one by one: conversions of pairs give others than processors do.
    const bool may_be_nan = !is_finite(kept.mean) || !is_finite(kept.factor);
    is_vectors =
        tile.begin + kTile <= pass.count && pass.is_aligned && !__any_sync(~0u, may_be_nan);
  }
  if (is_vectors) {
    __syncwarp();
    if constexpr (kType != ElementType::f64) store_vectors<kType>(tile, words, pass.x);
  } else {
    store_elements<kType>(at, tile, pass, kept.exponent, words);
  }
}

/// The tiles of a block: put(tile, levels, words) puts the levels of a tile's codes, and last(tile)
/// maps what they are decoded to.
template <ElementType kType, int kGroup, class Put, class Last>
__device__ void decode_block(const RotatedDecodeArguments& pass, const CodeLevels& given, Put put,
                             Last last) {
  __shared__ CodeLevels levels;
  __shared__ BlockSigns block_signs;
  __shared__ TileWords tiles[kWarps];
  draw_signs(pass.signs, block_signs);
  copy_to_shared(given, levels);
  const Tile tile(pass.coded);
  if (tile.count == 0) return;
  TileWords& words = tiles[threadIdx.x / kLanes];
  put(tile, levels, words);
  __syncwarp();
  decode_levels<kType, kGroup>(tile, pass, block_signs, words, last(tile));
}

/// Each element's level by its own code.
struct PutOwnLevels {
  const RotatedDecodeArguments& pass;

  __device__ void operator()(const Tile& tile, const CodeLevels& levels, TileWords& words) const {
    put_levels(tile, pass, levels, words);
  }
};

/// Decoded elements as they are.
struct Unmapped {
  __device__ AsDecoded operator()(const Tile& /*tile*/) const { return {}; }
};

template <ElementType kType, int kGroup, int kCount>
__global__ void __launch_bounds__(kThreads, kBlocksOf<kCount>)
    rotated_decode_kernel(const __grid_constant__ Together<RotatedDecodeArguments, kCount> passes,
                          const __grid_constant__ CodeLevels given) {
  const RotatedDecodeArguments& pass = own_pass(passes);
  decode_block<kType, kGroup>(pass, given, PutOwnLevels{pass}, Unmapped{});
}

template <ElementType kType>
cudaError_t launch_rotated_decode_of(int64_t group, std::span<const RotatedDecodeArguments> passes,
                                     cudaStream_t stream) {
  return launch_together(
      passes, [&]<int kCount>(const Together<RotatedDecodeArguments, kCount>& together) {
        const auto kernel = by_group(group, [](auto known_group) {
          return rotated_decode_kernel<kType, known_group.value, kCount>;
        });
        return launch(kernel, grid_of(passes), stream, together, code_levels(passes[0].bits, 0));
      });
}

}  // namespace fewbit::kernels::cuda
