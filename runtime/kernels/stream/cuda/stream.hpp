#pragma once

#include <cstdint>

#include "kernels/stream/cuda/vector.hpp"

/// Between codes in threads and the dense stream in memory.
namespace fewbit::kernels::cuda {

/// Where a lane's vector v stands in its tile, counted in vectors: loads of a warp are contiguous.
FEWBIT_HD constexpr int vector_place(int lane, int v) {
  return v * kLanes + lane;
}

/// Memory that the lanes of a warp share: first the quads of a tile, in the elements' order, then
/// the tile's words of the stream. Between the steps below all lanes wait for each other.
struct alignas(16) TileCodes {
  uint32_t word[kLanes * kQuads];
};

/// The quads of a lane's vectors, two a vector of 16-bit elements.
template <ElementType kType>
FEWBIT_HD inline void put_quads(int lane, const uint32_t (&quad)[kQuads], TileCodes& tile) {
  constexpr int kPer = kPerVector<kType> / 4;
  FEWBIT_UNROLL
  for (int q = 0; q < kQuads; ++q) {
    tile.word[vector_place(lane, q / kPer) * kPer + q % kPer] = quad[q];
  }
}

/// Of kTile elements the quads that a lane makes where elements come one by one: `code` gives the
/// code of the i-th; those from `count` on are zero.
template <class Code>
FEWBIT_HD inline void put_quads_slowly(int lane, int count, int bits, Code code, TileCodes& tile) {
  FEWBIT_KEEP_LOOP
  for (int round = 0; round < kQuads; ++round) {
    const int place = round * kLanes + lane;
    uint32_t quad = 0;
    FEWBIT_KEEP_LOOP
    for (int j = 0; j < 4; ++j) {
      if (4 * place + j < count) quad |= code(4 * place + j) << j * bits;
    }
    tile.word[place] = quad;
  }
}

/// The quads of 32 neighbouring elements.
FEWBIT_HD inline void get_quads(int lane, const TileCodes& tile, uint32_t (&quad)[kQuads]) {
  FEWBIT_UNROLL
  for (int q = 0; q < kQuads; ++q) quad[q] = tile.word[lane * kQuads + q];
}

/// The stream's words of these elements.
template <int kBits>
FEWBIT_HD inline void put_words(int lane, const uint32_t (&quad)[kQuads], TileCodes& tile) {
  uint32_t word[kBits] = {};
  FEWBIT_UNROLL
  for (int q = 0; q < kQuads; ++q) {
    const int at = q * 4 * kBits;
    word[at / 32] |= quad[q] << at % 32;
    if (at % 32 + 4 * kBits > 32) word[at / 32 + 1] |= quad[q] >> (32 - at % 32);
  }
  FEWBIT_UNROLL
  for (int i = 0; i < kBits; ++i) tile.word[lane * kBits + i] = word[i];
}

FEWBIT_HD inline void put_words(int lane, int bits, const uint32_t (&quad)[kQuads],
                                TileCodes& tile) {
  switch (bits) {
    case 1:
      return put_words<1>(lane, quad, tile);
    case 2:
      return put_words<2>(lane, quad, tile);
    case 3:
      return put_words<3>(lane, quad, tile);
    case 4:
      return put_words<4>(lane, quad, tile);
    case 5:
      return put_words<5>(lane, quad, tile);
    case 6:
      return put_words<6>(lane, quad, tile);
    case 7:
      return put_words<7>(lane, quad, tile);
    default:
      return put_words<8>(lane, quad, tile);
  }
}

/// hi:lo >> shift for 0 <= shift < 32, the lower word.
FEWBIT_HD inline uint32_t funnel_right(uint32_t lo, uint32_t hi, uint32_t shift) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_r(lo, hi, shift);
#else
  return static_cast<uint32_t>((uint64_t{hi} << 32 | lo) >> shift);
#endif
}

/// The bits of a vector's codes within the words of a tile: the same words and shift for all
/// vectors of a lane, but for whole words between them.
template <ElementType kType, int kBits>
struct VectorCodes {
  static constexpr int kWidth = kPerVector<kType> * kBits;
  /// Words from one vector of a lane to its next.
  static constexpr int kStride = kLanes * kWidth / 32;
  /// Whether the bits may lie in a word and the next one.
  static constexpr bool kCrosses = kWidth < 32 ? 32 % kWidth != 0 : kWidth % 32 != 0;

  int first;       ///< the word of the first bit
  int last;        ///< that of the last one; nothing beyond is read
  uint32_t shift;  ///< of the first bit in its word

  FEWBIT_HD explicit VectorCodes(int lane)
      : first(lane * kWidth / 32),
        last((lane * kWidth + kWidth - 1) / 32),
        shift(static_cast<uint32_t>(lane * kWidth % 32)) {}

  /// All bits of a vector of the lane, `words` those of its tile from v * kStride on; bits above
  /// kWidth are another vector's.
  FEWBIT_HD uint64_t load(const uint32_t* words) const {
    if constexpr (!kCrosses && kWidth <= 32) {
      return words[first] >> shift;
    } else if constexpr (!kCrosses) {
      return uint64_t{words[last]} << 32 | words[first];
    } else if constexpr (kWidth <= 32) {
      return funnel_right(words[first], words[last], shift);
    } else {
      const int next = first + 1;
      const uint32_t middle = words[next];
      const uint32_t low = funnel_right(words[first], middle, shift);
      return uint64_t{funnel_right(middle, words[last], shift)} << 32 | low;
    }
  }
};

/// Code i of a stream, read byte by byte.
FEWBIT_HD inline uint32_t load_code(const uint8_t* stream, int bits, int64_t i) {
  const int64_t at = i * bits;
  const int within = static_cast<int>(at % 8);
  uint32_t code = stream[at / 8];
  if (within + bits > 8) code |= static_cast<uint32_t>(stream[at / 8 + 1]) << 8;
  return code >> within & ((1u << bits) - 1);
}

}  // namespace fewbit::kernels::cuda
