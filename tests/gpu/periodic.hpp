#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace fewbit::kernels::cuda {

/// to[i] = pattern[i % period] for all bytes; both on the device.
cudaError_t repeat(const uint8_t* pattern, int64_t period, uint8_t* to, int64_t bytes,
                   cudaStream_t stream);

/// Adds to *count, on the device, how many bytes of `at` are not pattern[i % period].
cudaError_t count_differences(const uint8_t* pattern, int64_t period, const uint8_t* at,
                              int64_t bytes, unsigned long long* count, cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
