#pragma once

#include <cstdint>
#include <span>

#include <cuda_runtime_api.h>

#include "kernels/philox.hpp"
#include "kernels/quantizer/rotated.hpp"

/// Rotated quantisation on a CUDA device: what kernels/quantizer/rotated.hpp says, the same codes,
/// constants and decoded values, bit for bit. All
/// pointers are the device's, that of the sign stream's seed as well; `format.signs` is not read.
/// Launchers do as those of kernels/activation/cuda/activation.hpp.
namespace fewbit::kernels::cuda {

/// Writes code_bytes(coded_elements(), bits) of codes and the constants of all groups.
cudaError_t rotated_encode(const RotatedFormat& format, DevicePhilox signs, const void* x,
                           uint8_t* codes, void* constants, cudaStream_t stream);

cudaError_t rotated_decode(const RotatedFormat& format, DevicePhilox signs, const uint8_t* codes,
                           const void* constants, void* x, cudaStream_t stream);

/// Where one of several tensors is, and its codes.
template <class Element, class Byte, class Constant>
struct RotatedTensor {
  int64_t count;
  DevicePhilox signs;
  Element* x;
  Byte* codes;
  Constant* constants;
};
using RotatedEncodeTensor = RotatedTensor<const void, uint8_t, void>;
using RotatedDecodeTensor = RotatedTensor<void, const uint8_t, const void>;

/// The same of several tensors of one format but for their counts, which is not read, and without a
/// trellis, by one launch for each kMostTogether of them.
cudaError_t rotated_encode(const RotatedFormat& format,
                           std::span<const RotatedEncodeTensor> tensors, cudaStream_t stream);

cudaError_t rotated_decode(const RotatedFormat& format,
                           std::span<const RotatedDecodeTensor> tensors, cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
