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
  __shared__ ClassMap map;
  load_class_map(classes.classes, map);
  encode_by_trellis<kType, kGroup>(pass, given, ByClass<kType>{pass, classes, map});
}

template <ElementType kType, int kGroup>
__global__ void __launch_bounds__(kThreads, kBlocks)
    trellis_class_decode_kernel(const __grid_constant__ RotatedDecodeArguments pass,
                                const __grid_constant__ ClassArguments classes,
                                const __grid_constant__ CodeLevels given) {
  __shared__ ClassMap map;
  load_class_map(classes.classes, map);
  decode_block<kType, kGroup>(pass, given, PutTrellisLevels<kGroup>{pass},
                              BackByClass<kType>{pass, classes, map});
}

}  // namespace fewbit::kernels::cuda
