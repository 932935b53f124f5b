#pragma once

#include "kernels/quantizer/cuda/tile_words.hpp"
#include "kernels/stream/cuda/tile.cuh"

/// Elements and codes of a tile between the device's memory and the warp's. All lanes wait before
/// they get what others put.
namespace fewbit::kernels::cuda {

/// The elements of a whole tile, as floats.
template <ElementType kType>
__device__ void put_vectors(const Tile& tile, const void* x, TileWords& words) {
  constexpr int kPer = kPerVector<kType>;
  const Vector* const from = vectors_of<kType>(x, tile);
  Vector vector[kVectors<kType>];
  FEWBIT_UNROLL
  for (int v = 0; v < kVectors<kType>; ++v) vector[v] = from[v * kLanes];
  FEWBIT_UNROLL
  for (int v = 0; v < kVectors<kType>; ++v) {
    float value[kPer];
    widen<kType>(vector[v], value);
    FEWBIT_UNROLL
    for (int j = 0; j < kPer / 4; ++j) {
      Vector piece;
      FEWBIT_UNROLL
      for (int k = 0; k < 4; ++k) piece.word[k] = bits_of(value[4 * j + k]);
      put_piece(vector_place(tile.lane, v) * (kPer / 4) + j, piece, words);
    }
  }
}

/// The floats in `words` to elements of a whole tile.
template <ElementType kType>
__device__ void store_vectors(const Tile& tile, const TileWords& words, void* x) {
  constexpr int kPer = kPerVector<kType>;
  Vector* const to = vectors_of<kType>(x, tile);
  FEWBIT_UNROLL
  for (int v = 0; v < kVectors<kType>; ++v) {
    float value[kPer];
    FEWBIT_UNROLL
    for (int j = 0; j < kPer / 4; ++j) {
      const Vector piece = get_piece(vector_place(tile.lane, v) * (kPer / 4) + j, words);
      FEWBIT_UNROLL
      for (int k = 0; k < 4; ++k) value[4 * j + k] = float_of(piece.word[k]);
    }
    to[v * kLanes] = narrow<kType>(value);
  }
}

/// The words of the codes of a lane's 32 neighbours, zeros where there are none; `words` serves
/// where the stream is not aligned.
template <int kBits>
__device__ void load_words(const Tile& tile, const uint8_t* codes, bool is_aligned,
                           TileWords& words, uint32_t (&word)[kBits]) {
  const uint8_t* const from = codes + tile.begin / 8 * kBits;
  const int bytes = static_cast<int>(code_bytes(tile.count, kBits));
  const int first = tile.lane * kBits;
  if (is_aligned) {
    const auto* const source = reinterpret_cast<const uint32_t*>(from);
    FEWBIT_UNROLL
    for (int i = 0; i < kBits; ++i) word[i] = 4 * (first + i) < bytes ? source[first + i] : 0;
    return;
  }
  FEWBIT_KEEP_LOOP
  for (int i = tile.lane; i < bytes; i += kLanes) {
    reinterpret_cast<uint8_t*>(words.word)[i] = from[i];
  }
  __syncwarp();
  FEWBIT_UNROLL
  for (int i = 0; i < kBits; ++i) word[i] = 4 * (first + i) < bytes ? words.word[first + i] : 0;
  __syncwarp();
}

/// Code i of a lane's times 2^kShift: places of a table are addressed by bytes.
template <int kShift = 0, int kBits>
__device__ uint32_t code_of(const uint32_t (&word)[kBits], int i) {
  constexpr uint32_t kMask = ((1u << kBits) - 1) << kShift;
  const int at = i * kBits - kShift;
  if (at < 0) return word[0] << -at & kMask;
  const int next = at % 32 + kShift + kBits > 32 ? at / 32 + 1 : at / 32;
  return funnel_right(word[at / 32], word[next], static_cast<uint32_t>(at % 32)) & kMask;
}

}  // namespace fewbit::kernels::cuda
