#pragma once

#include <cuda_runtime_api.h>

#include "kernels/quantizer/low_rank.hpp"

/// What lies in few directions of channels, on a CUDA device: what kernels/quantizer/low_rank.hpp
/// says, bit for bit. All pointers are the device's. type: not f64. Launchers do as those of
/// kernels/activation/cuda/activation.hpp.
namespace fewbit::kernels::cuda {

/// basis: as it is kept, [count, stride], zeros behind the channels.
struct DeviceDirections {
  ChannelPlace place;
  int count;
  int64_t stride;
  const uint8_t* basis;
};

/// coefficients: [outer, count, inner].
cudaError_t low_rank_project(ElementType type, const void* x, const DeviceDirections& directions,
                             int64_t outer, float* coefficients, cudaStream_t stream);

struct DeviceLowRank {
  DeviceDirections directions;
  const float* coefficients;
  int64_t first = 0;  ///< of the coefficients' elements, that x begins with
};

/// rest: what is left of x, `count` floats.
cudaError_t low_rank_take(ElementType type, const void* x, const DeviceLowRank& low_rank,
                          int64_t count, float* rest, cudaStream_t stream);

/// x: the sum, within the finite range of its type.
cudaError_t low_rank_put_back(ElementType type, const float* rest, const DeviceLowRank& low_rank,
                              int64_t count, void* x, cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
