#pragma once

#include <type_traits>

#include "kernels/quantizer/cuda/integer_arguments.hpp"
#include "kernels/quantizer/cuda/spread_codes.cuh"
#include "kernels/quantizer/integers.hpp"

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
  store_stream(tile, codes, pass.bits, pass.per_bit, pass.codes);
}

template <IntegerType kType>
__global__ void __launch_bounds__(kThreads, kBlocks)
    integer_decode_kernel(const __grid_constant__ IntegerDecodeArguments pass) {
  using I = Integer<kType>;
  __shared__ TileWords tiles[kWarps];
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  TileWords& words = tiles[threadIdx.x / kLanes];
  if (pass.bits > 0) load_stream(tile, pass.codes, pass.bits, words);
  __syncwarp();
  auto* const to = static_cast<typename I::Stored*>(pass.x) + tile.begin;
  FEWBIT_KEEP_LOOP
  for (int e = tile.lane; e < tile.count; e += kLanes) {
    to[e] = I::stored(pass.minimum + code_in(words, e, pass.bits));
  }
}

}  // namespace fewbit::kernels::cuda
