#pragma once

#include "kernels/quantizer/cuda/group_decode.cuh"
#include "kernels/quantizer/cuda/group_doubles.cuh"
#include "kernels/quantizer/cuda/group_encode.cuh"

/// Groups of samples with bits of their own: a block does for its sample what it would do in a
/// launch for that sample alone.
namespace fewbit::kernels::cuda {

__device__ inline const void* further(const void* from, int64_t bytes) {
  return static_cast<const uint8_t*>(from) + bytes;
}

__device__ inline void* further(void* from, int64_t bytes) {
  return static_cast<uint8_t*>(from) + bytes;
}

/// Of the block's sample.
template <class Pass>
__device__ Pass pass_of(const OfSamples<Pass>& all) {
  const int64_t sample = all.first + blockIdx.y;
  Pass pass = all.pass;
  const int64_t begin = sample * pass.count * all.element_bytes;
  pass.x = further(pass.x, begin);
  pass.codes += all.samples.offsets[sample];
  pass.constants = further(pass.constants, sample * all.constant_bytes);
  pass.bits = all.samples.bits[sample];
  pass.is_aligned = pass.is_aligned && begin % 16 == 0;
  pass.random.offset += static_cast<uint64_t>(sample) << 32;
  return pass;
}

template <ElementType kType, Rounding kRounding>
__global__ void __launch_bounds__(kThreads, kBlocks)
    group_encode_samples_kernel(const __grid_constant__ OfSamples<GroupEncodeArguments> all) {
  __shared__ TileWords tiles[kWarps];
  const Tile tile(all.pass.count);
  if (tile.count == 0) return;
  const GroupEncodeArguments pass = pass_of(all);
  TileWords& words = tiles[threadIdx.x / kLanes];
  if constexpr (kType == ElementType::f64) {
    encode_tile_of_doubles<kRounding>(tile, pass, reinterpret_cast<TileCodes&>(words));
  } else {
    encode_tile<kType, kRounding>(tile, pass, words);
  }
}

template <ElementType kType, Rounding kRounding>
__global__ void __launch_bounds__(kThreads, kBlocks)
    group_decode_samples_kernel(const __grid_constant__ OfSamples<GroupDecodeArguments> all) {
  const GroupDecodeArguments pass = pass_of(all);
  if constexpr (kType == ElementType::f64) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < pass.count) decode_double<kRounding>(i, pass);
  } else {
    __shared__ TileWords tiles[kWarps];
    const Tile tile(pass.count);
    if (tile.count == 0) return;
    decode_tile<kType, kRounding>(tile, pass, tiles[threadIdx.x / kLanes]);
  }
}

}  // namespace fewbit::kernels::cuda
