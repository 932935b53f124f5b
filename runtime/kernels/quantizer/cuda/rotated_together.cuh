#pragma once

#include <algorithm>
#include <span>

#include "kernels/quantizer/cuda/rotated_arguments.hpp"
#include "kernels/stream/cuda/tile.cuh"

/// Several small tensors in one launch: a row of the grid for each, as long as the longest takes.
namespace fewbit::kernels::cuda {

/// That share a multiprocessor. Small tensors have fewer blocks together than a GPU has of these.
template <int kCount>
inline constexpr int kBlocksOf = kCount == 1 ? kBlocks : 2;

/// Of the tensor that a block codes.
template <class Arguments, int kCount>
__device__ const Arguments& own_pass(const Together<Arguments, kCount>& passes) {
  if constexpr (kCount == 1) {
    return passes.of[0];
  } else {
    return passes.of[blockIdx.y];
  }
}

template <class Arguments>
dim3 grid_of(std::span<const Arguments> passes) {
  unsigned blocks = 0;
  for (const Arguments& pass : passes) blocks = std::max(blocks, grid_of(pass.coded));
  return {blocks, static_cast<unsigned>(passes.size())};
}

// What a kernel of any GPU takes as arguments.
static_assert(sizeof(Together<RotatedEncodeArguments, kMostTogether>) + sizeof(MagnitudeTree) <=
              4096);
static_assert(sizeof(Together<RotatedDecodeArguments, kMostTogether>) + sizeof(CodeLevels) <= 4096);

/// launch(together): of one tensor, whose kernel looks for nothing, or of up to
/// kMostTogether.
template <class Arguments, class Launch>
cudaError_t launch_together(std::span<const Arguments> passes, Launch launch) {
  if (passes.size() == 1) {
    return launch(Together<Arguments, 1>{passes[0]});
  }
  Together<Arguments, kMostTogether> together;
  std::ranges::copy(passes, together.of);
  return launch(together);
}

}  // namespace fewbit::kernels::cuda
