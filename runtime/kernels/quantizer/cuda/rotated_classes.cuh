#pragma once

#include "kernels/quantizer/cuda/rotated_decode.cuh"
#include "kernels/quantizer/cuda/rotated_encode.cuh"

/// Rotated groups of elements that are mapped by their classes on the way. A lane maps the 32
/// neighbours whose classes it reads, in the memory that its warp shares.
namespace fewbit::kernels::cuda {

/// By all threads of a block; they have to wait before they read.
__device__ inline void load_class_map(const DeviceClasses& classes, ClassMap& map) {
  const int c = static_cast<int>(threadIdx.x);
  if (c >= kMostClasses) return;
  map.scale[c] = c < classes.classes ? classes.map[c] : 0.0f;
  map.shift[c] = c < classes.classes ? classes.map[classes.classes + c] : 0.0f;
}

/// Maps the elements of a tile in place.
struct TileClasses {
  const Tile tile;
  const ClassArguments& pass;
  const ClassMap& map;
  int64_t total;  ///< elements of the run

  /// put(x) of every element that is in the run, x what it is mapped to; zeros behind.
  template <class Put>
  __device__ void each(TileWords& words, Put put) const {
    const TileClasses here{tile.anew(), pass, map, total};
    const int count = own_elements(here.tile, total) - 32 * here.tile.lane;
    FEWBIT_KEEP_LOOP
    for (int q = 0; q < kQuads; ++q) {
      const int bits = pass.classes.bits;
      uint32_t codes = 4 * q < count ? here.codes_from(4 * q) : 0;
      Vector piece = get_piece(here.tile.lane * kQuads + q, words);
      FEWBIT_UNROLL
      for (int k = 0; k < 4; ++k) {
        const uint32_t c = codes & ((1u << bits) - 1) & (kMostClasses - 1);
        codes >>= bits;
        const float x = float_of(piece.word[k]) * map.scale[c] + map.shift[c];
        piece.word[k] = 4 * q + k < count ? bits_of(put(x)) : 0;
      }
      put_piece(here.tile.lane * kQuads + q, piece, words);
    }
  }

 private:
  /// Word i of the stream; those behind the last are it.
  __device__ uint32_t word(int64_t i) const {
    const int64_t last = code_bytes(total, pass.classes.bits) / 4 - 1;
    const int64_t at = i < last ? i : last;
    if (pass.is_aligned) return reinterpret_cast<const uint32_t*>(pass.classes.codes)[at];
    uint32_t word = 0;
    for (int j = 0; j < 4; ++j) word |= uint32_t{pass.classes.codes[4 * at + j]} << 8 * j;
    return word;
  }

  /// The classes of four of the lane's 32 neighbours, from the i-th on, the first lowest.
  __device__ uint32_t codes_from(int i) const {
    const int64_t first = tile.begin / 32 * pass.classes.bits + tile.lane * pass.classes.bits;
    const int bit = i * pass.classes.bits;
    const uint32_t low = word(first + bit / 32), high = word(first + bit / 32 + 1);
    return funnel_right(low, high, static_cast<uint32_t>(bit % 32));
  }
};

/// Elements from memory, mapped.
template <ElementType kType>
struct MappedElements {
  StoredElements<kType> stored;
  TileClasses classes;

  __device__ void put_whole(TileWords& words) const { stored.put_whole(words); }

  template <int kGroup>
  __device__ void put(const GroupLanes<kGroup>& at, int /*count*/, int /*exponent*/,
                      TileWords& words) const {
    put_elements<kType>(at, stored.tile, own_elements(stored.tile, classes.total), stored.pass.x, 0,
                        words);
  }

  template <int kGroup>
  __device__ void map(const GroupLanes<kGroup>& at, int count, int exponent,
                      TileWords& words) const {
    classes.each(words, [](float x) { return x; });
    __syncwarp();
    if (!__any_sync(~0u, exponent != 0 || count == 0)) return;
    FEWBIT_KEEP_LOOP
    for (int i = 0; i < kPerLane; ++i) {
      uint32_t& word = at.word(i, words);
      const auto x = static_cast<double>(count == 0 ? 0.0f : float_of(word));
      word = bits_of(exponent == 0 ? static_cast<float>(x)
                                   : static_cast<float>(times_power(x, -exponent)));
    }
  }

  /// Of what they are mapped to, which is in `words`.
  template <int kGroup>
  __device__ int exponent(const GroupLanes<kGroup>& at, int count, TileWords& words) const {
    return exponent_of_group(
        at, count, [&](int i) { return static_cast<double>(float_of(at.word(i, words))); });
  }
};

/// Decoded elements to what they are mapped back to.
template <ElementType kType>
struct MappedBack {
  TileClasses classes;

  __device__ void map(TileWords& words) const {
    __syncwarp();
    classes.each(words, [](float x) { return clamped<kType>(x); });
    __syncwarp();
  }
};

/// Those of a tile by their classes, on the way there,
template <ElementType kType>
struct ByClass {
  const RotatedEncodeArguments& pass;
  const ClassArguments& classes;
  const ClassMap& map;

  __device__ MappedElements<kType> operator()(const Tile& tile) const {
    return {StoredElements<kType>{tile, pass}, {tile, classes, map, pass.count}};
  }
};

/// and back.
template <ElementType kType>
struct BackByClass {
  const RotatedDecodeArguments& pass;
  const ClassArguments& classes;
  const ClassMap& map;

  __device__ MappedBack<kType> operator()(const Tile& tile) const {
    return {{tile, classes, map, pass.count}};
  }
};

template <ElementType kType, int kGroup>
__global__ void __launch_bounds__(kThreads, kBlocks)
    rotated_class_encode_kernel(const __grid_constant__ RotatedEncodeArguments pass,
                                const __grid_constant__ ClassArguments classes,
                                const __grid_constant__ MagnitudeTree given) {
  __shared__ ClassMap map;
  load_class_map(classes.classes, map);
  encode_block<kType, kGroup>(pass, given, ByClass<kType>{pass, classes, map});
}

template <ElementType kType, int kGroup>
__global__ void __launch_bounds__(kThreads, kBlocks)
    rotated_class_decode_kernel(const __grid_constant__ RotatedDecodeArguments pass,
                                const __grid_constant__ ClassArguments classes,
                                const __grid_constant__ CodeLevels given) {
  __shared__ ClassMap map;
  load_class_map(classes.classes, map);
  decode_block<kType, kGroup>(pass, given, PutOwnLevels{pass},
                              BackByClass<kType>{pass, classes, map});
}

template <ElementType kType>
cudaError_t launch_class_encode_of(int64_t group, const RotatedEncodeArguments& pass,
                                   const ClassArguments& classes, cudaStream_t stream) {
  const auto kernel = by_group(group, [](auto known_group) {
    return rotated_class_encode_kernel<kType, known_group.value>;
  });
  return launch(kernel, grid_of(pass.coded), stream, pass, classes, magnitude_tree(pass.bits));
}

template <ElementType kType>
cudaError_t launch_class_decode_of(int64_t group, const RotatedDecodeArguments& pass,
                                   const ClassArguments& classes, cudaStream_t stream) {
  const auto kernel = by_group(group, [](auto known_group) {
    return rotated_class_decode_kernel<kType, known_group.value>;
  });
  return launch(kernel, grid_of(pass.coded), stream, pass, classes, code_levels(pass.bits, 0));
}

}  // namespace fewbit::kernels::cuda
