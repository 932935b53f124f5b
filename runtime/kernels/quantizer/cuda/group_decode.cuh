#pragma once

#include "kernels/quantizer/cuda/group_arguments.hpp"
#include "kernels/quantizer/cuda/group_constants.hpp"
#include "kernels/quantizer/cuda/tile_words.cuh"

/// Codes of groups to elements, a warp a tile: a lane has 32 neighbours, all of one group.
namespace fewbit::kernels::cuda {

template <ElementType kType, Rounding kRounding, int kBits>
__device__ void put_values(const Tile& tile, const GroupDecodeArguments& pass,
                           const GroupDecoding<float>& decoding, TileWords& words) {
  uint32_t word[kBits];
  load_words(tile, pass.codes, pass.codes_are_aligned, words, word);
  const PhiloxState random = {decoding_draws(kRounding) ? *pass.random.seed : 0,
                              pass.random.offset};
  const int64_t first = (tile.begin + tile.lane * kPerLane) / 4;
  FEWBIT_UNROLL
  for (int q = 0; q < kQuads; ++q) {
    PhiloxWords drawn = {};
    if constexpr (decoding_draws(kRounding)) {
      drawn = philox(static_cast<uint64_t>(first + q), random.offset, random.seed);
    }
    Vector piece;
    FEWBIT_UNROLL
    for (int j = 0; j < 4; ++j) {
      float code = static_cast<float>(code_of(word, 4 * q + j));
      if constexpr (kRounding == Rounding::squares) code *= code;
      if constexpr (decoding_draws(kRounding)) {
        code += static_cast<float>(dither_of(drawn.word[j])) * kDitherUnit;
      }
      piece.word[j] = bits_of(clamped<kType>(decoding.value(code)));
    }
    put_piece(tile.lane * kQuads + q, piece, words);
  }
}

template <ElementType kType, Rounding kRounding>
__device__ void put_values(const Tile& tile, const GroupDecodeArguments& pass,
                           const GroupDecoding<float>& decoding, TileWords& words) {
  switch (pass.bits) {
    case 1:
      return put_values<kType, kRounding, 1>(tile, pass, decoding, words);
    case 2:
      return put_values<kType, kRounding, 2>(tile, pass, decoding, words);
    case 3:
      return put_values<kType, kRounding, 3>(tile, pass, decoding, words);
    case 4:
      return put_values<kType, kRounding, 4>(tile, pass, decoding, words);
    case 5:
      return put_values<kType, kRounding, 5>(tile, pass, decoding, words);
    case 6:
      return put_values<kType, kRounding, 6>(tile, pass, decoding, words);
    case 7:
      return put_values<kType, kRounding, 7>(tile, pass, decoding, words);
    default:
      return put_values<kType, kRounding, 8>(tile, pass, decoding, words);
  }
}

/// A tile that has elements.
template <ElementType kType, Rounding kRounding>
__device__ void decode_tile(const Tile& tile, const GroupDecodeArguments& pass, TileWords& words) {
  GroupConstants<float> of = {};
  if (tile.lane * kPerLane < tile.count) {
    of = load_constants<float>(pass.constants, (tile.begin + tile.lane * kPerLane) >> pass.shift);
  }
  const GroupDecoding<float> decoding(of, pass.bits, kRounding == Rounding::squares);
  put_values<kType, kRounding>(tile, pass, decoding, words);
  // A NaN is stored one by one: conversions of pairs give others than processors do.
  const bool may_be_nan = !is_finite(of.minimum) || !is_finite(of.half_range);
  const bool is_plain = !__any_sync(~0u, may_be_nan);
  __syncwarp();
  if (tile.count == kTile && pass.is_aligned && is_plain) {
    store_vectors<kType>(tile, words, pass.x);
    return;
  }
  FEWBIT_KEEP_LOOP
  for (int i = tile.lane; i < tile.count; i += kLanes) {
    store_clamped<kType>(pass.x, tile.begin + i, float_of(words.word[word_place(i)]));
  }
}

template <ElementType kType, Rounding kRounding>
__global__ void __launch_bounds__(kThreads, kBlocks)
    group_decode_kernel(const __grid_constant__ GroupDecodeArguments pass) {
  __shared__ TileWords tiles[kWarps];
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  decode_tile<kType, kRounding>(tile, pass, tiles[threadIdx.x / kLanes]);
}

}  // namespace fewbit::kernels::cuda
