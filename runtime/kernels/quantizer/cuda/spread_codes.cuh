#pragma once

#include "kernels/quantizer/cuda/spread_codes.hpp"
#include "kernels/quantizer/cuda/tile_words.hpp"
#include "kernels/stream/cuda/tile.cuh"

/// Codes of up to 32 bits, one in a word each, and the stream of a warp's tile.
namespace fewbit::kernels::cuda {

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

/// Writes a tile's stream, with the zeros at its end. All lanes are done with `codes`.
__device__ inline void store_stream(const Tile& tile, const SpreadCodes& codes, int bits,
                                    uint32_t per_bit, uint8_t* stream) {
  uint8_t* const to = stream + tile.begin / 8 * bits;
  const bool is_aligned = reinterpret_cast<uintptr_t>(to) % 4 == 0;
  const int words = static_cast<int>(code_bytes(tile.count, bits) / 4);
  FEWBIT_KEEP_LOOP
  for (int w = tile.lane; w < words; w += kLanes) {
    const uint32_t word = joined_codes(codes, bits, per_bit, w);
    if (is_aligned) {
      reinterpret_cast<uint32_t*>(to)[w] = word;
    } else {
      for (int i = 0; i < 4; ++i) to[4 * w + i] = static_cast<uint8_t>(word >> 8 * i);
    }
  }
}

/// The words of a tile's stream; lanes wait before they read.
__device__ inline void load_stream(const Tile& tile, const uint8_t* stream, int bits,
                                   TileWords& words) {
  const uint8_t* const from = stream + tile.begin / 8 * bits;
  const int bytes = static_cast<int>(code_bytes(tile.count, bits));
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

/// The code of element e in what load_stream gave; of no bits 0.
FEWBIT_HD inline uint32_t code_in(const TileWords& words, int e, int bits) {
  const int at = e * bits;
  const int last = bits > 0 ? at + bits - 1 : at;
  return mask_of(bits) &
         funnel_right(words.word[at / 32], words.word[last / 32], static_cast<uint32_t>(at % 32));
}

}  // namespace fewbit::kernels::cuda
