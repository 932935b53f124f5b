#pragma once

#include <cuda_runtime_api.h>

#include "kernels/philox.hpp"
#include "kernels/quantizer/group_samples.hpp"

/// Uniform quantisation in groups on a CUDA device: what kernels/quantizer/group.hpp and
/// group_samples.hpp say, the same codes, constants and decoded values, bit for bit. All pointers
/// are the device's, that of the seed as well, which is read where rounding draws; `format.random`
/// is not read. Launchers do as those of kernels/activation/cuda/activation.hpp.
namespace fewbit::kernels::cuda {

cudaError_t group_encode(const GroupFormat& format, DevicePhilox random, const void* x,
                         uint8_t* codes, void* constants, int64_t count, cudaStream_t stream);

cudaError_t group_decode(const GroupFormat& format, DevicePhilox random, const uint8_t* codes,
                         const void* constants, void* x, int64_t count, cudaStream_t stream);

/// Bits and offsets are in the device's memory, the bits 1 to 8, which nothing here checks.
cudaError_t group_encode_samples(const GroupFormat& format, DevicePhilox random,
                                 const Samples& samples, const void* x, uint8_t* codes,
                                 void* constants, cudaStream_t stream);

cudaError_t group_decode_samples(const GroupFormat& format, DevicePhilox random,
                                 const Samples& samples, const uint8_t* codes,
                                 const void* constants, void* x, cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
