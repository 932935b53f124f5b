#pragma once

#include <c10/util/Exception.h>

#include "kernels/philox.hpp"
#include "ops/cuda_device.hpp"

namespace fewbit::ops {

/// The launchers throw nothing and leave the error of a launch for us to clear.
inline void check_launch(const char* operation, cudaError_t status) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  TORCH_CHECK(false, operation, ": CUDA error: ", cudaGetErrorString(status), " (",
              cudaGetErrorName(status), ")");
}

/// A seed in the device's memory, or null.
inline kernels::DevicePhilox device_philox(const int64_t* seed, uint64_t offset) {
  return {reinterpret_cast<const uint64_t*>(seed), offset};
}

/// Where another one stands.
inline kernels::DevicePhilox device_philox(const int64_t* seed, kernels::PhiloxState stream) {
  return {reinterpret_cast<const uint64_t*>(seed), stream.offset, stream.first};
}

}  // namespace fewbit::ops
