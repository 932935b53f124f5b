#pragma once

#include <type_traits>

#include "kernels/quantizer/cuda/integer_arguments.hpp"
#include "kernels/quantizer/cuda/tile_words.hpp"
#include "kernels/quantizer/integers.hpp"
#include "kernels/stream/cuda/tile.cuh"

/// Integers in up to 32 bits, a warp a tile: of as many words as an element has bits in each lane.
/// Distances are unsigned and wrap, so that no difference of two numbers overflows.
namespace fewbit::kernels::cuda {

/// How a type's elements lie in memory.
template <IntegerType kType>
struct Integer {
  using Stored =
      std::conditional_t<kType == IntegerType::i64, int64_t,
                         std::conditional_t<kType == IntegerType::i32, int32_t, uint8_t>>;

  static FEWBIT_HD uint64_t of(Stored x) {
    if constexpr (kType == IntegerType::boolean) return x != 0 ? 1 : 0;
    return static_cast<uint64_t>(int64_t{x});
  }

  static FEWBIT_HD Stored stored(uint64_t value) {
    if constexpr (kType == IntegerType::boolean) return value != 0 ? 1 : 0;
    return static_cast<Stored>(value);
  }
};

FEWBIT_HD constexpr uint32_t mask_of(int bits) {
  return static_cast<uint32_t>((uint64_t{1} << bits) - 1);
}

/// A tile's codes, one in a word. What lies between them keeps those that lanes join apart.
struct SpreadCodes {
  uint32_t word[kTile + kTile / 32];

  FEWBIT_HD uint32_t& of(int e) { return word[e + e / 32]; }
  FEWBIT_HD uint32_t of(int e) const { return word[e + e / 32]; }
};

/// Word w of the stream of these codes: it begins within code 32 w / bits.
__device__ inline uint32_t joined_codes(const SpreadCodes& codes, int bits, uint32_t per_bit,
                                        int w) {
  const int begin = 32 * w;
  const int first = static_cast<int>(uint64_t{per_bit} * static_cast<uint32_t>(begin) >> 20);
  int shift = first * bits - begin;  // of the code, within the word
  uint32_t word = codes.of(first) >> -shift;
  shift += bits;
  FEWBIT_KEEP_LOOP
  for (int i = first + 1; shift < 32; ++i, shift += bits) word |= codes.of(i) << shift;
  return word;
}

template <IntegerType kType>
__global__ void __launch_bounds__(kThreads, kBlocks)
    integer_encode_kernel(const __grid_constant__ IntegerEncodeArguments pass) {
  using I = Integer<kType>;
  __shared__ SpreadCodes tiles[kWarps];
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  SpreadCodes& codes = tiles[threadIdx.x / kLanes];
  const auto* const from = static_cast<const typename I::Stored*>(pass.x) + tile.begin;
  const uint32_t mask = mask_of(pass.bits);
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) {
    const int e = i * kLanes + tile.lane;
    const uint64_t distance = e < tile.count ? I::of(from[e]) - pass.minimum : 0;
    codes.of(e) = static_cast<uint32_t>(distance) & mask;
  }
  __syncwarp();
  uint8_t* const to = pass.codes + tile.begin / 8 * pass.bits;
  const bool is_aligned = reinterpret_cast<uintptr_t>(to) % 4 == 0;
  const int words = static_cast<int>(code_bytes(tile.count, pass.bits) / 4);
  FEWBIT_KEEP_LOOP
  for (int w = tile.lane; w < words; w += kLanes) {
    const uint32_t word = joined_codes(codes, pass.bits, pass.per_bit, w);
    if (is_aligned) {
      reinterpret_cast<uint32_t*>(to)[w] = word;
    } else {
      for (int i = 0; i < 4; ++i) to[4 * w + i] = static_cast<uint8_t>(word >> 8 * i);
    }
  }
}

/// The words of a tile's codes.
__device__ inline void load_stream(const Tile& tile, const IntegerDecodeArguments& pass,
                                   TileWords& words) {
  const uint8_t* const from = pass.codes + tile.begin / 8 * pass.bits;
  const int bytes = static_cast<int>(code_bytes(tile.count, pass.bits));
  if (reinterpret_cast<uintptr_t>(from) % 4 == 0) {
    FEWBIT_KEEP_LOOP
    for (int i = tile.lane; i < bytes / 4; i += kLanes) {
      words.word[i] = reinterpret_cast<const uint32_t*>(from)[i];
    }
  } else {
    FEWBIT_KEEP_LOOP
    for (int i = tile.lane; i < bytes; i += kLanes) {
      reinterpret_cast<uint8_t*>(words.word)[i] = from[i];
    }
  }
}

template <IntegerType kType>
__global__ void __launch_bounds__(kThreads, kBlocks)
    integer_decode_kernel(const __grid_constant__ IntegerDecodeArguments pass) {
  using I = Integer<kType>;
  __shared__ TileWords tiles[kWarps];
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  TileWords& words = tiles[threadIdx.x / kLanes];
  if (pass.bits > 0) load_stream(tile, pass, words);
  __syncwarp();
  auto* const to = static_cast<typename I::Stored*>(pass.x) + tile.begin;
  const uint32_t mask = mask_of(pass.bits);
  FEWBIT_KEEP_LOOP
  for (int e = tile.lane; e < tile.count; e += kLanes) {
    const int at = e * pass.bits;
    const int last = pass.bits > 0 ? at + pass.bits - 1 : at;
    const uint32_t code =
        funnel_right(words.word[at / 32], words.word[last / 32], static_cast<uint32_t>(at % 32));
    to[e] = I::stored(pass.minimum + (code & mask));
  }
}

}  // namespace fewbit::kernels::cuda
