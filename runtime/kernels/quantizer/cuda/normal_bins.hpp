#pragma once

#include <cuda_runtime_api.h>

#include "kernels/quantizer/normal_bins.hpp"

/// Bins of norms' inputs on a CUDA device: what kernels/quantizer/normal_bins.hpp says, bit for
/// bit. All pointers are the device's, those of `bins` as well. Launchers do as those of
/// kernels/activation/cuda/activation.hpp.
namespace fewbit::kernels::cuda {

cudaError_t normal_bins_encode(ElementType type, const NormalBins& bins, const void* x,
                               uint8_t* codes, int64_t count, cudaStream_t stream);

cudaError_t normal_bins_decode(ElementType type, const NormalBins& bins, const uint8_t* codes,
                               void* x, int64_t count, cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
