#pragma once

#include <cuda_runtime_api.h>

#include "kernels/philox.hpp"
#include "kernels/quantizer/class_maps.hpp"
#include "kernels/quantizer/rotated.hpp"

/// Elements of known classes on a CUDA device: kernels/quantizer/class_maps.hpp, and what
/// kernels/quantizer/rotated.hpp says of classes, bit for bit. All pointers are the device's.
/// Launchers do as those of kernels/activation/cuda/activation.hpp.
namespace fewbit::kernels::cuda {

cudaError_t class_maps(const ClassMapsFormat& format, const void* x, const uint8_t* codes,
                       float* there, float* back, cudaStream_t stream);

/// codes: the stream of the elements' classes. map: scales, then shifts.
struct DeviceClasses {
  const uint8_t* codes;
  int bits;
  const float* map;
  int classes;
};

/// Of types without f64; `format.classes` is not read.
cudaError_t rotated_class_encode(const RotatedFormat& format, DevicePhilox signs,
                                 const DeviceClasses& classes, const void* x, uint8_t* codes,
                                 void* constants, cudaStream_t stream);

cudaError_t rotated_class_decode(const RotatedFormat& format, DevicePhilox signs,
                                 const DeviceClasses& classes, const uint8_t* codes,
                                 const void* constants, void* x, cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
