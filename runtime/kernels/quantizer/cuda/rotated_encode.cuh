#pragma once

#include <algorithm>

#include "kernels/quantizer/cuda/rotated_arguments.hpp"
#include "kernels/quantizer/cuda/rotated_elements.hpp"
#include "kernels/quantizer/cuda/rotated_launch.hpp"
#include "kernels/quantizer/cuda/rotated_signs.cuh"
#include "kernels/quantizer/cuda/rotated_together.cuh"
#include "kernels/quantizer/cuda/tile_words.cuh"

/// Elements to codes of their rotated groups, a warp a tile. A lane computes with the elements of
/// GroupLanes; the memory that the warp shares brings them there and takes the codes back.
namespace fewbit::kernels::cuda {

/// The elements of a tile that are x's own: fewer than are coded where a group is filled up.
__device__ inline int own_elements(const Tile& tile, int64_t total) {
  const int64_t rest = total - tile.begin;
  return rest >= kTile ? kTile : static_cast<int>(rest);
}

/// A lane's elements one by one, times 2^-exponent; zeros from `count` on.
template <ElementType kType, int kGroup>
__device__ void put_elements(const GroupLanes<kGroup>& at, const Tile& tile, int count,
                             const void* x, int exponent, TileWords& words) {
  FEWBIT_KEEP_LOOP
  for (int i = 0; i < kPerLane; ++i) {
    const int e = at.element(i);
    float value = 0.0f;
    if (e < count && exponent == 0) {
      value = load_float<kType>(x, tile.begin + e);
    } else if (e < count) {
      value = static_cast<float>(times_power(load_wide<kType>(x, tile.begin + e), -exponent));
    }
    at.word(i, words) = bits_of(value);
  }
}

/// The exponent of the greatest element of each lane's group, by the element at `place`.
template <int kGroup, class At>
__device__ int exponent_of_group(const GroupLanes<kGroup>& at, int count, At value) {
  int greatest = kOfZero;
  FEWBIT_KEEP_LOOP
  for (int i = 0; i < kPerLane; ++i) {
    if (at.element(i) >= count) break;
    greatest = std::max(greatest, exponent_of(value(i)));
  }
  return join_lanes<kGroup>(greatest, [](int a, int b) { return std::max(a, b); });
}

/// Where a tile's elements come from: memory.
template <ElementType kType>
struct StoredElements {
  const Tile& tile;
  const RotatedEncodeArguments& pass;

  /// All of a whole tile.
  __device__ void put_whole(TileWords& words) const {
    if constexpr (kType != ElementType::f64) put_vectors<kType>(tile, pass.x, words);
  }

  /// The first `count`, times 2^-exponent of each lane's group.
  template <int kGroup>
  __device__ void put(const GroupLanes<kGroup>& at, int count, int exponent,
                      TileWords& words) const {
    put_elements<kType>(at, tile, count, pass.x, exponent, words);
  }

  /// What is done with them once all lanes have put theirs.
  template <int kGroup>
  __device__ void map(const GroupLanes<kGroup>& /*at*/, int /*count*/, int /*exponent*/,
                      TileWords& /*words*/) const {}

  template <int kGroup>
  __device__ int exponent(const GroupLanes<kGroup>& at, int count, TileWords& /*words*/) const {
    return exponent_of_group(
        at, count, [&](int i) { return load_wide<kType>(pass.x, tile.begin + at.element(i)); });
  }
};

/// What is known of a lane's group once it is rotated: its mean and energy are times 2^exponent.
struct Rotation {
  float mean;
  float energy;
  int exponent;
};

/// The sum of a lane's group over its elements. Where these are as many as can be, the division is
/// by a power of two and exact either way.
template <int kGroup>
__device__ float mean_of(const GroupLanes<kGroup>& at, float sum, int count) {
  if (count == kTile) return sum * (1.0f / kGroup);
  const int own = count - at.group * kGroup;
  return sum / static_cast<float>(own > 0 && own < kGroup ? own : kGroup);
}

/// x - mean, 0 where a group is filled up.
template <int kGroup>
__device__ void center(const GroupLanes<kGroup>& at, int count, float mean, float (&x)[kPerLane]) {
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) x[i] -= mean;
  if (count == kTile) return;
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) {
    if (at.element(i) >= count) x[i] = 0.0f;
  }
}

/// x to H S x. Lanes whose signs are masked turn nothing round.
template <int kGroup>
__device__ void turn(const GroupLanes<kGroup>& at, const BlockSigns& block, uint32_t mask,
                     float (&x)[kPerLane]) {
  const LaneSigns<kGroup> signs(block, at);
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) x[i] = signs.turned(x[i], i, mask);
  hadamard(at, x);
}

/// The elements in `words` to H S H S (x - mean).
template <ElementType kType, int kGroup>
__device__ Rotation rotate(const GroupLanes<kGroup>& at, int count, const BlockSigns& signs,
                           uint32_t mask, TileWords& words, float (&x)[kPerLane]) {
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) x[i] = float_of(at.word(i, words));
  const float sum = sum_group<kGroup>([&](int i) { return x[i]; });
  const float mean = mean_of(at, sum, count);
  const float kept = kType == ElementType::f64 ? mean : rounded_to_bf16(mean);
  center(at, count, kept, x);
  const float energy = sum_group<kGroup>([&](int i) { return x[i] * x[i]; });
  turn(at, signs, mask, x);
  turn(at.anew(), signs, mask, x);  // or the first one's signs were held meanwhile
  return {kept, energy, 0};
}

/// The length of x - mean, turned twice.
template <int kGroup>
__device__ float root_of(float energy) {
  return std::sqrt(energy) * std::sqrt(static_cast<float>(kGroup));
}

/// Between this and 2^100 squares are exact enough.
inline constexpr float kLeastEnergy = 0x1p-100f;

__device__ inline bool is_exact(float energy, float least) {
  return energy >= least && energy <= 0x1p100f;
}

/// Whether all elements of a lane are zero: they need no scale.
template <ElementType kType>
__device__ bool are_zeros(const Rotation& of, const float (&x)[kPerLane]) {
  uint32_t any = kType == ElementType::f64 ? 1 : bits_of(of.mean);
  FEWBIT_UNROLL
  for (int i = 0; i < kPerLane; ++i) any |= bits_of(x[i]);
  return (any << 1) == 0;
}

/// The elements of a tile, rotated. Where a group is constant, too great or small for squares or
/// not finite, all of the tile once more: the others times 1.
template <ElementType kType, int kGroup, class Elements>
__device__ Rotation rotate_tile(const Tile& tile, const RotatedEncodeArguments& pass,
                                const Elements& elements, const GroupLanes<kGroup>& at,
                                const BlockSigns& signs, TileWords& words, float (&x)[kPerLane]) {
  const int count = own_elements(tile, pass.count);
  bool is_vectors = kType != ElementType::f64 && count == kTile && pass.is_aligned;
  float least = kLeastEnergy;
  int exponent = 0;
  uint32_t mask = 1u << 31;
  FEWBIT_KEEP_LOOP
  while (true) {
    // A group that is not finite is one of zeros.
    const int own = mask == 0 ? 0 : count;
    if (is_vectors) {
      elements.put_whole(words);
    } else {
      elements.put(at.anew(), own, exponent, words);
    }
    __syncwarp();
    elements.map(at, own, exponent, words);
    Rotation of = rotate<kType>(at, count, signs, mask, words, x);
    const bool exact = is_exact(of.energy, least);
    if (!__any_sync(~0u, !exact) || !__any_sync(~0u, !exact && !are_zeros<kType>(of, x))) {
      of.exponent = exponent;
      if (mask == 0) of.mean = quiet_nan<float>();
      return of;
    }
    exponent = elements.exponent(at, count, words);
    if (exponent == kOfNotFinite) mask = 0;
    const bool stays = exact || mask == 0 || exponent == kOfZero;
    if (stays) exponent = 0;
    least = 0.0f;  // of what is scaled any energy will do
    is_vectors = false;
  }
}

/// Nodes are counted in bytes, as they are addressed.
__device__ inline float node_at(const MagnitudeTree& tree, uint32_t bytes) {
  return *reinterpret_cast<const float*>(reinterpret_cast<const char*>(tree.node) + bytes);
}

/// The leaf of a tree of 2^(bits - 1) leaves that a size belongs to. The first step is everyone's.
template <int kCount>
__device__ void find_leaves(const MagnitudeTree& tree, int bits, const float (&size)[kCount],
                            uint32_t (&leaf)[kCount]) {
  const float root = tree.node[1];
  FEWBIT_UNROLL
  for (int i = 0; i < kCount; ++i) leaf[i] = bits == 1 ? 4 : size[i] > root ? 12 : 8;
  FEWBIT_KEEP_LOOP
  for (int depth = 2; depth < bits; ++depth) {
    FEWBIT_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const bool is_above = size[i] > node_at(tree, leaf[i]);
      leaf[i] = 2 * leaf[i] + (is_above ? 4 : 0);
    }
  }
}

/// Puts four times the codes of u = x inverse, the lane's group being rotated to x; x becomes |u|
/// times the code's level. Codes of groups that there are not are zero.
template <int kGroup>
__device__ void put_codes(const GroupLanes<kGroup>& at, const MagnitudeTree& tree, int bits,
                          float inverse, bool is_there, TileWords& words, float (&x)[kPerLane]) {
  // Small groups leave registers for fewer.
  constexpr int kTogether = kGroup == 64 ? 4 : 8;
  const uint32_t mask = is_there ? (4u << bits) - 4 : 0;
  FEWBIT_UNROLL
  for (int first = 0; first < kPerLane; first += kTogether) {
    float u[kTogether];
    float size[kTogether];
    uint32_t leaf[kTogether];
    FEWBIT_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      u[i] = x[first + i] * inverse;
      size[i] = std::fabs(u[i]);
    }
    find_leaves(tree, bits, size, leaf);
    FEWBIT_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      // All bits where u is negative.
      const auto below = static_cast<uint32_t>(static_cast<int32_t>(bits_of(u[i])) >> 31);
      at.word(first + i, words) = (leaf[i] ^ below) & mask;
      x[first + i] = size[i] * node_at(tree, leaf[i]);
    }
  }
}

/// The quads of a lane's 32 neighbours. Codes have no bits in common there: products and sums are
/// one instruction.
__device__ inline void quads_of(int lane, int bits, const TileWords& words,
                                uint32_t (&quad)[kQuads]) {
  const uint32_t next = 1u << bits;
  FEWBIT_UNROLL
  for (int q = 0; q < kQuads; ++q) {
    const Vector code = get_piece(lane * kQuads + q, words);
    const uint32_t low = code.word[1] * next + code.word[0];
    const uint32_t high = code.word[3] * next + code.word[2];
    quad[q] = (high >> 2) * next * next + low / 4;
  }
}

/// Writes constants and codes of a tile whose codes are put; `root` is that of the energy, x are
/// elements u times their levels.
template <ElementType kType, int kGroup>
__device__ void store_encoded(const GroupLanes<kGroup>& at, const Tile& tile,
                              const RotatedEncodeArguments& pass, const BlockSigns& signs,
                              const Rotation& of, float root, TileWords& words,
                              const float (&x)[kPerLane]) {
  const float sum = sum_group<kGroup>([&](int i) { return x[i]; });
  const uint32_t word = word_of_group(signs, at.anew());
  if (at.within == 0 && at.group * kGroup < tile.count) {
    const float factor = root == 0.0f ? 0.0f : root / sum;
    store_kept<kType>({of.mean, factor, of.exponent}, word, pass.constants,
                      tile.begin / kGroup + at.group);
  }
  __syncwarp();
  uint32_t quad[kQuads];
  quads_of(tile.lane, pass.bits, words, quad);
  __syncwarp();
  store_quads(tile, pass.bits, tile.count == kTile && pass.codes_are_aligned, quad,
              reinterpret_cast<TileCodes&>(words), pass.codes);
}

/// A tile from elements to codes and constants.
template <ElementType kType, int kGroup, class Elements>
__device__ void encode_tile(const Tile& tile, const RotatedEncodeArguments& pass,
                            const Elements& elements, const MagnitudeTree& tree,
                            const BlockSigns& block_signs, TileWords& words) {
  const GroupLanes<kGroup> at(tile.lane);
  float x[kPerLane];
  const Rotation of = rotate_tile<kType>(tile, pass, elements, at, block_signs, words, x);
  const bool is_there = at.group * kGroup < tile.count;
  const float root = root_of<kGroup>(of.energy);
  put_codes(at.anew(), tree, pass.bits, of.energy == 0.0f ? 0.0f : 1.0f / root, is_there, words, x);
  store_encoded<kType>(at, tile, pass, block_signs, of, root, words, x);
}

/// The tiles of a block, whose elements are elements(tile).
template <ElementType kType, int kGroup, class Elements>
__device__ void encode_block(const RotatedEncodeArguments& pass, const MagnitudeTree& given,
                             Elements elements) {
  __shared__ MagnitudeTree tree;
  __shared__ BlockSigns block_signs;
  __shared__ TileWords tiles[kWarps];
  draw_signs(pass.signs, block_signs);
  copy_to_shared(given, tree);
  const Tile tile(pass.coded);
  if (tile.count == 0) return;
  encode_tile<kType, kGroup>(tile, pass, elements(tile), tree, block_signs,
                             tiles[threadIdx.x / kLanes]);
}

/// Those in memory, as they are.
template <ElementType kType>
struct AsStored {
  const RotatedEncodeArguments& pass;

  __device__ StoredElements<kType> operator()(const Tile& tile) const { return {tile, pass}; }
};

template <ElementType kType, int kGroup, int kCount>
__global__ void __launch_bounds__(kThreads, kBlocksOf<kCount>)
    rotated_encode_kernel(const __grid_constant__ Together<RotatedEncodeArguments, kCount> passes,
                          const __grid_constant__ MagnitudeTree given) {
  const RotatedEncodeArguments& pass = own_pass(passes);
  encode_block<kType, kGroup>(pass, given, AsStored<kType>{pass});
}

template <ElementType kType>
cudaError_t launch_rotated_encode_of(int64_t group, std::span<const RotatedEncodeArguments> passes,
                                     cudaStream_t stream) {
  return launch_together(
      passes, [&]<int kCount>(const Together<RotatedEncodeArguments, kCount>& together) {
        const auto kernel = by_group(group, [](auto known_group) {
          return rotated_encode_kernel<kType, known_group.value, kCount>;
        });
        return launch(kernel, grid_of(passes), stream, together, magnitude_tree(passes[0].bits));
      });
}

}  // namespace fewbit::kernels::cuda
