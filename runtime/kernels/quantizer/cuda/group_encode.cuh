#pragma once

#include "kernels/quantizer/cuda/group_arguments.hpp"
#include "kernels/quantizer/cuda/group_constants.hpp"
#include "kernels/quantizer/cuda/group_lanes.cuh"
#include "kernels/quantizer/cuda/tile_words.cuh"

/// Elements to codes of their groups, a warp a tile: a lane has 32 neighbours, all of one group.
namespace fewbit::kernels::cuda {

/// The elements of any tile, in their order. A short group is filled up with its first element,
/// which changes none of its extremes.
template <ElementType kType>
__device__ void put_elements(const Tile& tile, int shift, const void* x, TileWords& words) {
  FEWBIT_KEEP_LOOP
  for (int i = tile.lane; i < kTile; i += kLanes) {
    const int first = i >> shift << shift;
    float value = 0.0f;
    if (first < tile.count) {
      value = load_element<kType>(x, tile.begin + (i < tile.count ? i : first));
    }
    words.word[word_place(i)] = bits_of(value);
  }
}

/// The least and the largest of numbers, NaN where one is not finite.
struct Extremes {
  float low;
  float high;

  __device__ void join(float other_low, float other_high) {
    low = min_or_nan(low, other_low);
    high = max_or_nan(high, other_high);
  }
};

/// Of a lane's 32 neighbours.
__device__ inline Extremes extremes_of(int lane, const TileWords& words) {
  const float first = float_of(get_piece(lane * kQuads, words).word[0]);
  Extremes of = {first, first};
  FEWBIT_UNROLL
  for (int q = 0; q < kQuads; ++q) {
    const Vector piece = get_piece(lane * kQuads + q, words);
    FEWBIT_UNROLL
    for (int j = 0; j < 4; ++j) of.join(float_of(piece.word[j]), float_of(piece.word[j]));
  }
  return of;
}

/// The constants of each lane's group, which `span` lanes share; NaN where one element is not
/// finite.
__device__ inline GroupConstants<float> constants_of_group(int span, Extremes of) {
  FEWBIT_KEEP_LOOP
  for (int distance = span / 2; distance > 0; distance /= 2) {
    of.join(__shfl_xor_sync(~0u, of.low, distance), __shfl_xor_sync(~0u, of.high, distance));
  }
  if (!is_finite(of.low) || !is_finite(of.high)) return {quiet_nan<float>(), quiet_nan<float>()};
  return constants_of(of.low, of.high);
}

/// The codes of a lane's neighbours. They have no bits in common: products and sums are one
/// instruction. Left to itself a compiler reads and draws for all of them at once, which takes more
/// registers than there are: so the lanes wait for each other.
template <Rounding kRounding>
__device__ void quads_of(const GroupEncoding<float>& encoding, int bits, const PhiloxState& random,
                         const Tile& tile, const TileWords& words, uint32_t (&quad)[kQuads]) {
  const uint32_t next = 1u << bits;
  const auto first = static_cast<uint64_t>(tile.begin / 4 + tile.lane * kQuads);
  FEWBIT_UNROLL
  for (int q = 0; q < kQuads; ++q) {
    __syncwarp();
    const Vector piece = get_piece(tile.lane * kQuads + q, words);
    PhiloxWords drawn = {};
    if constexpr (encoding_draws(kRounding)) {
      drawn = philox(first + static_cast<uint64_t>(q), random.offset, random.seed);
    }
    quad[q] = 0;
    FEWBIT_UNROLL
    for (int j = 3; j >= 0; --j) {
      const int32_t addend = encoding_draws(kRounding) ? addend_of(drawn.word[j]) : kHalf;
      const float x = float_of(piece.word[j]);
      quad[q] = quad[q] * next + encoding.code<kRounding == Rounding::squares>(x, addend);
    }
  }
}

/// Without the codes from `count` on.
__device__ inline void cut_off(int bits, int count, uint32_t (&quad)[kQuads]) {
  FEWBIT_UNROLL
  for (int q = 0; q < kQuads; ++q) {
    const int rest = count - 4 * q;
    const int kept = rest < 0 ? 0 : rest < 4 ? rest : 4;
    quad[q] &= static_cast<uint32_t>((uint64_t{1} << kept * bits) - 1);
  }
}

/// A tile that has elements.
template <ElementType kType, Rounding kRounding>
__device__ void encode_tile(const Tile& tile, const GroupEncodeArguments& pass, TileWords& words) {
  const bool is_whole = tile.count == kTile;
  if (is_whole && pass.is_aligned) {
    put_vectors<kType>(tile, pass.x, words);
  } else {
    put_elements<kType>(tile, pass.shift, pass.x, words);
  }
  __syncwarp();
  const int first = tile.lane * kPerLane;
  const int64_t begin = tile.begin + first;
  const GroupConstants<float> of =
      constants_of_group((1 << pass.shift) / kPerLane, extremes_of(tile.lane, words));
  if (first >> pass.shift << pass.shift == first && first < tile.count) {
    store_constants(of, pass.constants, begin >> pass.shift);
  }
  const PhiloxState random = {encoding_draws(kRounding) ? *pass.random.seed : 0,
                              pass.random.offset};
  uint32_t quad[kQuads];
  quads_of<kRounding>(GroupEncoding<float>(of, pass.bits), pass.bits, random, tile, words, quad);
  // A group without numbers has codes of zero.
  const int count = std::isnan(of.minimum) ? 0 : tile.count - first;
  if (__any_sync(~0u, count < kPerLane)) cut_off(pass.bits, count, quad);
  __syncwarp();
  store_quads(tile, pass.bits, is_whole && pass.codes_are_aligned, quad,
              reinterpret_cast<TileCodes&>(words), pass.codes);
}

template <ElementType kType, Rounding kRounding>
__global__ void __launch_bounds__(kThreads, kBlocks)
    group_encode_kernel(const __grid_constant__ GroupEncodeArguments pass) {
  __shared__ TileWords tiles[kWarps];
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  encode_tile<kType, kRounding>(tile, pass, tiles[threadIdx.x / kLanes]);
}

}  // namespace fewbit::kernels::cuda
