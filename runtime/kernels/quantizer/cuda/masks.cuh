#pragma once

#include "kernels/quantizer/cuda/integer_arguments.hpp"
#include "kernels/quantizer/cuda/mask_elements.hpp"
#include "kernels/stream/cuda/tile.cuh"

/// Masks in one bit, a warp a tile, of which the stream has 32 words.
namespace fewbit::kernels::cuda {

/// Lanes whose vectors, side by side, make a word of the stream; as many vectors a lane has.
template <class M>
inline constexpr int kLanesOfWord = 32 / M::kPer;

/// The word of the stream whose bits a lane finds: the k-th of vector lane % kLanesOfWord.
template <class M>
FEWBIT_HD inline int word_of(int lane) {
  constexpr int kSpan = kLanesOfWord<M>;
  return lane % kSpan * (kLanes / kSpan) + lane / kSpan;
}

template <class M>
__device__ void encode_whole(const Tile& tile, const MaskEncodeArguments& pass) {
  constexpr int kSpan = kLanesOfWord<M>;
  const Vector* const from = static_cast<const Vector*>(pass.x) + tile.begin / M::kPer + tile.lane;
  constexpr int kTogether = kSpan < 8 ? kSpan : 8;  // as many vectors as there are registers for
  uint32_t own = 0;
  FEWBIT_UNROLL
  for (int first = 0; first < kSpan; first += kTogether) {
    Vector vector[kTogether];
    FEWBIT_UNROLL
    for (int v = 0; v < kTogether; ++v) vector[v] = from[(first + v) * kLanes];
    FEWBIT_UNROLL
    for (int v = 0; v < kTogether; ++v) {
      uint32_t word = M::bits_of(vector[v]) << tile.lane % kSpan * M::kPer;
      FEWBIT_UNROLL
      for (int distance = kSpan / 2; distance > 0; distance /= 2) {
        word |= __shfl_xor_sync(~0u, word, distance);
      }
      if (tile.lane % kSpan == first + v) own = word;
    }
  }
  reinterpret_cast<uint32_t*>(pass.codes)[tile.begin / 32 + word_of<M>(tile.lane)] = own;
}

template <class M>
__device__ void encode_slowly(const Tile& tile, const MaskEncodeArguments& pass) {
  const auto* const from = static_cast<const typename M::Bits*>(pass.x) + tile.begin;
  uint32_t own = 0;
  FEWBIT_KEEP_LOOP
  for (int i = 0; i < kPerLane; ++i) {
    const int e = i * kLanes + tile.lane;
    const uint32_t word = __ballot_sync(~0u, e < tile.count && M::is_greater(from[e]));
    if (tile.lane == i) own = word;
  }
  uint8_t* const to = pass.codes + tile.begin / 8 + 4 * tile.lane;
  if (4 * tile.lane >= code_bytes(tile.count, 1)) return;
  FEWBIT_UNROLL
  for (int i = 0; i < 4; ++i) to[i] = static_cast<uint8_t>(own >> 8 * i);
}

template <class M>
__global__ void __launch_bounds__(kThreads, kBlocks)
    mask_encode_kernel(const __grid_constant__ MaskEncodeArguments pass) {
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  if (tile.count == kTile && pass.is_aligned) {
    encode_whole<M>(tile, pass);
  } else {
    encode_slowly<M>(tile, pass);
  }
}

template <class M>
__device__ void decode_whole(const Tile& tile, const MaskDecodeArguments& pass) {
  constexpr int kSpan = kLanesOfWord<M>;
  const auto* const words =
      reinterpret_cast<const uint32_t*>(pass.codes) + tile.begin / 32 + tile.lane / kSpan;
  Vector* const to = static_cast<Vector*>(pass.x) + tile.begin / M::kPer + tile.lane;
  FEWBIT_UNROLL
  for (int v = 0; v < kSpan; ++v) {
    to[v * kLanes] = M::vector_of(words[v * (kLanes / kSpan)] >> tile.lane % kSpan * M::kPer);
  }
}

template <class M>
__global__ void __launch_bounds__(kThreads, kBlocks)
    mask_decode_kernel(const __grid_constant__ MaskDecodeArguments pass) {
  const Tile tile(pass.count);
  if (tile.count == kTile && pass.is_aligned) {
    decode_whole<M>(tile, pass);
    return;
  }
  auto* const to = static_cast<typename M::Bits*>(pass.x);
  FEWBIT_KEEP_LOOP
  for (int i = tile.lane; i < tile.count; i += kLanes) {
    const int64_t e = tile.begin + i;
    to[e] = (pass.codes[e / 8] >> e % 8 & 1) != 0 ? M::kOne : typename M::Bits{0};
  }
}

}  // namespace fewbit::kernels::cuda
