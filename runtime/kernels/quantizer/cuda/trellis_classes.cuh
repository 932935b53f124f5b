#pragma once

#include "kernels/quantizer/cuda/rotated_classes.cuh"
#include "kernels/quantizer/cuda/trellis_decode.cuh"
#include "kernels/quantizer/cuda/trellis_encode.cuh"

/// Elements that are mapped by their classes on the way to codes that a trellis picks, and back.
namespace fewbit::kernels::cuda {

template <ElementType kType, int kGroup>
__global__ void __launch_bounds__(kThreads, kBlocks)
    trellis_class_encode_kernel(const __grid_constant__ RotatedEncodeArguments pass,
                                const __grid_constant__ ClassArguments classes,
                                const __grid_constant__ TrellisTree given) {
  __shared__ TrellisMemory memory;
  __shared__ ClassMap map;
  draw_signs(pass.signs, memory.signs);
  load_class_map(classes.classes, map);
  copy_to_shared(given, memory.tree);
  const Tile tile = trellis_tile<kGroup>(pass);
  if (tile.count == 0) return;
  encode_by_trellis<kType, kGroup>(
      tile, pass,
      MappedElements<kType>{StoredElements<kType>{tile, pass}, {tile, classes, map, pass.count}},
      given, memory);
}

template <ElementType kType, int kGroup>
__global__ void __launch_bounds__(kThreads, kBlocks)
    trellis_class_decode_kernel(const __grid_constant__ RotatedDecodeArguments pass,
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
  put_trellis_levels<kGroup>(tile, pass, levels, words);
  __syncwarp();
  decode_levels<kType, kGroup>(tile, pass, block_signs, words,
                               MappedBack<kType>{{tile, classes, map, pass.count}});
}

}  // namespace fewbit::kernels::cuda
