#pragma once

#include <cstdint>

#include "kernels/stream/cuda/vector.hpp"

/// How the lanes of a warp hand a tile's elements, or their codes, to each other.
namespace fewbit::kernels::cuda {

/// A word for every element of a tile, in memory that the lanes of a warp share: put in one order,
/// got in another. Between both all lanes wait for each other.
struct alignas(16) TileWords {
  uint32_t word[kTile];
};

/// Where the word of element e lies. Rows of 32 words fill all banks; the pieces of four words
/// within them are reordered so that neither the pieces of neighbouring lanes nor the elements of
/// GroupLanes fall on few banks. Elements without bits in common: the place of their sum is the XOR
/// of their places.
FEWBIT_HD constexpr int word_place(int e) {
  const int row = e / 32;
  return e ^ (row >> 2 ^ (row & 2) << 1 ^ (row & 1) * 3) << 2;
}

/// Elements 4 i to 4 i + 3.
FEWBIT_HD inline void put_piece(int i, const Vector& piece, TileWords& words) {
  *reinterpret_cast<Vector*>(words.word + word_place(4 * i)) = piece;
}

FEWBIT_HD inline Vector get_piece(int i, const TileWords& words) {
  return *reinterpret_cast<const Vector*>(words.word + word_place(4 * i));
}

/// A group's elements in the lanes that share it: a lane has those at the same place of every run
/// of kSpan. Elements that are far apart are in one lane, so that of the distances G / 2, ... 1
/// the first five, at which sums have the most to add, need no other lane.
template <int kGroup>
struct GroupLanes {
  static constexpr int kSpan = kGroup / kPerLane;  ///< lanes of a group

  int group;   ///< the lane's, within the tile
  int within;  ///< the lane's place in it
  int place;   ///< of its first word

  FEWBIT_HD explicit GroupLanes(int lane)
      : group(lane / kSpan), within(lane % kSpan), place(word_place(group * kGroup + within)) {}

  /// The same, asked of the device again: what is addressed by it takes no registers until here.
  FEWBIT_HD GroupLanes anew() const {
#if defined(__CUDA_ARCH__)
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return GroupLanes(lane);
#else
    return *this;
#endif
  }

  /// The lane's i-th element, within the tile.
  FEWBIT_HD int element(int i) const {
    return group * kGroup + i * kSpan + within;
  }

  /// Its word. But for the bits of pieces what is XORed may be added: most addresses differ by a
  /// constant.
  FEWBIT_HD uint32_t& word(int i, TileWords& words) const {
    constexpr int kPieces = 7 << 2;
    const int further = word_place(i * kSpan);
    return words.word[(place ^ (further & kPieces)) + (further & ~kPieces)];
  }
};

}  // namespace fewbit::kernels::cuda
