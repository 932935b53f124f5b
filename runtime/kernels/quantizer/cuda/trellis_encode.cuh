#pragma once

#include "kernels/quantizer/cuda/rotated_encode.cuh"
#include "kernels/quantizer/cuda/trellis_path.hpp"

/// Elements to codes that a trellis picks. Warps rotate a tile each; then the groups of all tiles
/// of a block go to one lane each, which finds the best path through its group: a path has no two
/// parts that could be found at a time. Warps that have no group wait.
namespace fewbit::kernels::cuda {

/// What is found of the groups of a block.
struct BlockPaths {
  /// Of four elements each, by their place in the group and then by group: lanes of a warp share no
  /// bank.
  uint32_t decisions[kWarps * kTile / 4];
  /// Bit e % 32 of word e / 32: the lowest bit of the code of element e of the block.
  uint32_t lowest[kWarps * kTile / 32];
};

/// Group g of a block, whose elements u are put.
template <int kGroup>
struct GroupPath {
  static constexpr int kGroups = kWarps * kTile / kGroup;  ///< of a block

  const TileWords& words;
  BlockPaths& paths;
  int g;

  __device__ GroupPath(const TileWords* tiles, BlockPaths& of_block, int group)
      : words(tiles[group * kGroup / kTile]), paths(of_block), g(group) {}

  /// Elements 4 i to 4 i + 3.
  __device__ Vector piece(int i) const { return get_piece(g * kGroup % kTile / 4 + i, words); }
  __device__ uint32_t& decisions(int i) const { return paths.decisions[i * kGroups + g]; }
  __device__ uint32_t& lowest(int i) const { return paths.lowest[g * (kGroup / 32) + i]; }
};

/// Puts the decisions of a group; the state in which its best path ends.
template <int kBits, int kStates, int kGroup>
__device__ uint32_t search_path(const TrellisTree& table, const GroupPath<kGroup>& group) {
  constexpr float kNever = 1e30f;
  float path[kStates];
  FEWBIT_UNROLL
  for (int state = 0; state < kStates; ++state) path[state] = state == 0 ? 0.0f : kNever;
  FEWBIT_KEEP_LOOP
  for (int i = 0; i < kGroup / 4; ++i) {
    const Vector u = group.piece(i);
    uint32_t decisions = 0;
    FEWBIT_UNROLL
    for (int j = 0; j < 4; ++j) {
      float cost[kSubsets];
      subset_costs<kBits>(table, float_of(u.word[j]), cost);
      decisions |= extend_paths<kStates>(cost, path) << j * kStates;
    }
    group.decisions(i) = decisions;
  }
  return best_end<kStates>(path);
}

/// Back along the best path, from the state in which it ends.
template <int kStates, int kGroup>
__device__ void follow_back(const GroupPath<kGroup>& group, uint32_t state) {
  FEWBIT_KEEP_LOOP
  for (int w = kGroup / 32 - 1; w >= 0; --w) {
    uint32_t lowest = 0;
    FEWBIT_KEEP_LOOP
    for (int i = 7; i >= 0; --i) {
      const uint32_t decisions = group.decisions(8 * w + i);
      FEWBIT_UNROLL
      for (int j = 3; j >= 0; --j) {
        lowest = lowest << 1 | (state & 1);
        const uint32_t oldest = decisions >> (j * kStates + static_cast<int>(state)) & 1;
        state = state >> 1 | oldest * (kStates / 2);
      }
    }
    group.lowest(w) = lowest;
  }
}

template <int kStates, int kGroup>
__device__ void find_path(const TrellisTree& table, int bits, const GroupPath<kGroup>& group) {
  const auto search = [&] {
    switch (bits) {
      case 1:
        return search_path<1, kStates>(table, group);
      case 2:
        return search_path<2, kStates>(table, group);
      case 3:
        return search_path<3, kStates>(table, group);
      default:
        return search_path<4, kStates>(table, group);
    }
  };
  follow_back<kStates>(group, search());
}

/// By all threads of a block, of whose tiles the elements u are put.
template <int kGroup>
__device__ void find_paths(const RotatedEncodeArguments& pass, const TrellisTree& table,
                           const TileWords* tiles, BlockPaths& paths) {
  __syncthreads();
  const int g = static_cast<int>(threadIdx.x);
  constexpr int kGroups = GroupPath<kGroup>::kGroups;
  if (g < kGroups && (int64_t{blockIdx.x} * kGroups + g) * kGroup < pass.coded) {
    const GroupPath<kGroup> group(tiles, paths, g);
    if (pass.states == 4) {
      find_path<4>(table, pass.bits, group);
    } else {
      find_path<8>(table, pass.bits, group);
    }
  }
  __syncthreads();
}

__device__ inline float node_at(const TrellisTree& tree, uint32_t bytes) {
  return *reinterpret_cast<const float*>(reinterpret_cast<const char*>(tree.node) + bytes);
}

/// The lowest bits of a lane's elements and of those before them.
template <int kGroup>
class LaneWindows {
 public:
  __device__ LaneWindows(const BlockPaths& paths, const GroupLanes<kGroup>& at)
      : words_(paths.lowest + threadIdx.x / kLanes * (kTile / 32) + at.group * (kGroup / 32)),
        within_(at.within) {}

  /// Of element i, its own bit highest of four.
  __device__ uint32_t window(int i) const {
    constexpr int kSpan = GroupLanes<kGroup>::kSpan;
    const int word = i * kSpan / 32;
    const uint32_t before = word == 0 ? 0 : words_[word - 1];
    const int after = 31 - i * kSpan % 32 - within_;
    return funnel_left(before, words_[word], static_cast<uint32_t>(after)) >> 28;
  }

 private:
  const uint32_t* words_;
  int within_;
};

/// Puts four times the codes of the elements u that are put; x becomes u times the code's level.
/// Codes of groups that there are not are zero.
template <int kGroup>
__device__ void put_trellis_codes(const GroupLanes<kGroup>& at, const TrellisTree& tree, int bits,
                                  uint32_t subsets, const LaneWindows<kGroup>& windows,
                                  bool is_there, TileWords& words, float (&x)[kPerLane]) {
  constexpr int kTogether = 2;  // registers have no room for more
  const uint32_t mask = is_there ? (4u << bits) - 4 : 0;
  FEWBIT_UNROLL
  for (int first = 0; first < kPerLane; first += kTogether) {
    float u[kTogether];
    uint32_t own[kTogether];
    uint32_t leaf[kTogether];
    FEWBIT_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      const uint32_t window = windows.window(first + i);
      u[i] = float_of(at.word(first + i, words));
      own[i] = window >> 1 & 4;
      leaf[i] = 16 + (subsets >> 2 * window & 3) * 4;
    }
    FEWBIT_KEEP_LOOP
    for (int depth = 1; depth < bits; ++depth) {
      FEWBIT_UNROLL
      for (int i = 0; i < kTogether; ++i) {
        const bool is_above = u[i] > node_at(tree, leaf[i]);
        const uint32_t subset = leaf[i] & 12;
        leaf[i] = 2 * leaf[i] - subset + (is_above ? 16 : 0);
      }
    }
    FEWBIT_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      // Half of it, but for the subset, is four times the code without its lowest bit.
      at.word(first + i, words) = ((leaf[i] >> 1 & ~7u) | own[i]) & mask;
      x[first + i] = u[i] * node_at(tree, leaf[i]);
    }
  }
}

/// What a block has in memory that its threads share.
struct TrellisMemory {
  TrellisTree tree;
  BlockSigns signs;
  TileWords tiles[kWarps];
  BlockPaths paths;
};

/// By all warps of a block that have a tile; there is no group for one that has none: its groups
/// are of later tiles still. `given`: the tree, as the launcher passed it.
template <ElementType kType, int kGroup, class Elements>
__device__ void encode_tile_by_trellis(const Tile& tile, const RotatedEncodeArguments& pass,
                                       const Elements& elements, const TrellisTree& given,
                                       TrellisMemory& memory) {
  TileWords& words = memory.tiles[threadIdx.x / kLanes];
  const GroupLanes<kGroup> at(tile.lane);
  float x[kPerLane];
  const Rotation of = rotate_tile<kType>(tile, pass, elements, at, memory.signs, words, x);
  const float root = root_of<kGroup>(of.energy);
  const float inverse = of.energy == 0.0f ? 0.0f : 1.0f / root;
  const GroupLanes<kGroup> here = at.anew();
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) here.word(i, words) = bits_of(x[i] * inverse);
  find_paths<kGroup>(pass, given, memory.tiles, memory.paths);
  const uint32_t subsets = pass.states == 4 ? subsets_of_windows(4) : subsets_of_windows(8);
  put_trellis_codes(at.anew(), memory.tree, pass.bits, subsets,
                    LaneWindows<kGroup>(memory.paths, at), at.group * kGroup < tile.count, words,
                    x);
  store_encoded<kType>(at, tile, pass, memory.signs, of, root, words, x);
}

/// Groups of a whole tile are whole: no register holds how many elements it has.
template <int kGroup>
__device__ Tile trellis_tile(const RotatedEncodeArguments& pass) {
  Tile tile(pass.coded);
  if (kGroup == kTile && tile.count != 0) tile.count = kTile;
  return tile;
}

/// The tiles of a block, whose elements are elements(tile).
template <ElementType kType, int kGroup, class Elements>
__device__ void encode_by_trellis(const RotatedEncodeArguments& pass, const TrellisTree& given,
                                  Elements elements) {
  __shared__ TrellisMemory memory;
  draw_signs(pass.signs, memory.signs);
  copy_to_shared(given, memory.tree);
  const Tile tile = trellis_tile<kGroup>(pass);
  if (tile.count == 0) return;
  encode_tile_by_trellis<kType, kGroup>(tile, pass, elements(tile), given, memory);
}

template <ElementType kType, int kGroup>
__global__ void __launch_bounds__(kThreads, kBlocks)
    trellis_encode_kernel(const __grid_constant__ RotatedEncodeArguments pass,
                          const __grid_constant__ TrellisTree given) {
  encode_by_trellis<kType, kGroup>(pass, given, AsStored<kType>{pass});
}

}  // namespace fewbit::kernels::cuda
