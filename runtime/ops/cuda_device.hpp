#pragma once

#include <cstdint>

#include <c10/core/Device.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

// What the operations' CUDA sources know of torch's CUDA, and no other file of them does: tests
// put the header of another device in the place of this one (tests/stand_in/in_place_of_cuda).

/// The dispatch key of the device.
#define FEWBIT_CUDA_KEY CUDA

namespace fewbit::ops {

inline constexpr c10::DeviceType kCudaType = c10::DeviceType::CUDA;

/// The current one, on the current device.
inline cudaStream_t current_cuda_stream() {
  return c10::cuda::getCurrentCUDAStream();
}

inline c10::Device current_cuda_device() {
  return c10::Device(kCudaType, c10::cuda::current_device());
}

/// Whether the current one of the device is captured into a graph.
inline bool is_cuda_stream_captured(c10::DeviceIndex device) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(c10::cuda::getCurrentCUDAStream(device), &status));
  return status != cudaStreamCaptureStatusNone;
}

/// Elements of a float each that an operation has in memory at the same time beside its results.
inline constexpr int64_t kFloatsAtOnce = int64_t{1} << 22;

}  // namespace fewbit::ops
