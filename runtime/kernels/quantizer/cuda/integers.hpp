#pragma once

#include <cuda_runtime_api.h>

#include "kernels/quantizer/integers.hpp"

/// Exact codes on a CUDA device: what kernels/quantizer/integers.hpp says, bit for bit, but that
/// nothing tells whether an element has no code. All pointers are the device's. Launchers do as
/// those of kernels/activation/cuda/activation.hpp.
namespace fewbit::kernels::cuda {

cudaError_t integer_encode(IntegerType type, const void* x, int64_t minimum, int bits,
                           uint8_t* codes, int64_t count, cudaStream_t stream);

cudaError_t integer_decode(IntegerType type, const uint8_t* codes, int64_t minimum, int bits,
                           void* x, int64_t count, cudaStream_t stream);

cudaError_t sign_encode(ElementType type, const void* x, uint8_t* codes, int64_t count,
                        cudaStream_t stream);

cudaError_t sign_decode(ElementType type, const uint8_t* codes, void* x, int64_t count,
                        cudaStream_t stream);

cudaError_t mask_encode(const bool* x, uint8_t* codes, int64_t count, cudaStream_t stream);

cudaError_t mask_decode(const uint8_t* codes, bool* x, int64_t count, cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
