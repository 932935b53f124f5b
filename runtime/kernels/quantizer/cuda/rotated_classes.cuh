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
  const Tile& tile;
  const ClassArguments& pass;
  const ClassMap& map;
  int64_t total;  ///< elements of the run

  /// put(e, x) of every element e that is in the run and what it is mapped to; zeros behind.
  template <class Put>
  __device__ void each(TileWords& words, Put put) const {
    switch (pass.classes.bits) {
      case 1:
        return run<1>(words, put);
      case 2:
        return run<2>(words, put);
      case 3:
        return run<3>(words, put);
      case 4:
        return run<4>(words, put);
      case 8:
        return run<8>(words, put);
      default:
        return run<0>(words, put);
    }
  }

 private:
  /// Words of the classes of the lane's 32 neighbours; bytes where the stream is not aligned.
  template <int kBits>
  __device__ void load(int bytes, uint32_t (&word)[kBits]) const {
    const uint8_t* const from =
        pass.classes.codes + tile.begin / 8 * kBits + tile.lane * (4 * kBits);
    const int rest = bytes - tile.lane * (4 * kBits);
    FEWBIT_UNROLL
    for (int i = 0; i < kBits; ++i) {
      word[i] = 0;
      if (pass.is_aligned) {
        if (4 * i < rest) word[i] = reinterpret_cast<const uint32_t*>(from)[i];
      } else {
        for (int j = 0; j < 4; ++j) {
          if (4 * i + j < rest) word[i] |= uint32_t{from[4 * i + j]} << 8 * j;
        }
      }
    }
  }

  /// Of any width where kBits is 0.
  template <int kBits, class Put>
  __device__ void run(TileWords& words, Put put) const {
    const int count = own_elements(tile, total);
    constexpr int kWords = kBits == 0 ? 1 : kBits;
    uint32_t word[kWords] = {};
    const int64_t last = code_bytes(total, pass.classes.bits) - 1;
    if constexpr (kBits > 0) {
      load<kBits>(count > 0 ? static_cast<int>(code_bytes(count, kBits)) : 0, word);
    }
    FEWBIT_UNROLL
    for (int q = 0; q < kQuads; ++q) {
      Vector piece = get_piece(tile.lane * kQuads + q, words);
      FEWBIT_UNROLL
      for (int k = 0; k < 4; ++k) {
        const int e = tile.lane * 32 + 4 * q + k;
        float x = 0.0f;
        if (e < count) {
          int c = 0;
          if constexpr (kBits > 0) {
            c = static_cast<int>(code_of(word, 4 * q + k));
          } else {
            c = class_at(pass.classes.codes, pass.classes.bits, last, tile.begin + e);
          }
          x = put(float_of(piece.word[k]) * map.scale[c] + map.shift[c]);
        }
        piece.word[k] = bits_of(x);
      }
      put_piece(tile.lane * kQuads + q, piece, words);
    }
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

template <ElementType kType, int kGroup>
__global__ void __launch_bounds__(kThreads, kBlocks)
    rotated_class_encode_kernel(const __grid_constant__ RotatedEncodeArguments pass,
                                const __grid_constant__ ClassArguments classes,
                                const __grid_constant__ MagnitudeTree given) {
  __shared__ MagnitudeTree tree;
  __shared__ BlockSigns block_signs;
  __shared__ ClassMap map;
  __shared__ TileWords tiles[kWarps];
  draw_signs(pass.signs, block_signs);
  load_class_map(classes.classes, map);
  copy_to_shared(given, tree);
  const Tile tile(pass.coded);
  if (tile.count == 0) return;
  encode_tile<kType, kGroup>(
      tile, pass,
      MappedElements<kType>{StoredElements<kType>{tile, pass}, {tile, classes, map, pass.count}},
      tree, block_signs, tiles[threadIdx.x / kLanes]);
}

template <ElementType kType, int kGroup>
__global__ void __launch_bounds__(kThreads, kBlocks)
    rotated_class_decode_kernel(const __grid_constant__ RotatedDecodeArguments pass,
                                const __grid_constant__ ClassArguments classes,
                                const __grid_constant__ CodeLevels given) {
  __shared__ CodeLevels levels;
  __shared__ BlockSigns block_signs;
  __shared__ ClassMap map;
  __shared__ TileWords tiles[kWarps];
  draw_signs(pass.signs, block_signs);
  load_class_map(classes.classes, map);
  copy_to_shared(given, levels);
  const Tile tile(pass.coded);
  if (tile.count == 0) return;
  TileWords& words = tiles[threadIdx.x / kLanes];
  put_levels(tile, pass, levels, words);
  __syncwarp();
  decode_levels<kType, kGroup>(tile, pass, block_signs, words,
                               MappedBack<kType>{{tile, classes, map, pass.count}});
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
