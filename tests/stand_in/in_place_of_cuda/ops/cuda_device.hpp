#pragma once

#include <cstdint>

#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

// The stand-in's, for the operations' CUDA sources.

#define FEWBIT_CUDA_KEY PrivateUse1

namespace fewbit::ops {

inline constexpr c10::DeviceType kCudaType = c10::DeviceType::PrivateUse1;

/// Puts launches into the current stream of the current device.
cudaStream_t current_cuda_stream();

c10::Device current_cuda_device();

bool is_cuda_stream_captured(c10::DeviceIndex device);

/// Few, so that small tensors take several pieces.
inline constexpr int64_t kFloatsAtOnce = int64_t{1} << 13;

}  // namespace fewbit::ops
