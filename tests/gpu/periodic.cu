#include "tests/gpu/periodic.hpp"

namespace fewbit::kernels::cuda {

namespace {

constexpr int kBlocks = 4096;
constexpr int kBlockThreads = 256;

__device__ int64_t first() {
  return int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
}

constexpr int64_t kStride = int64_t{kBlocks} * kBlockThreads;

__global__ void repeat_kernel(const uint8_t* pattern, int64_t period, uint8_t* to, int64_t bytes) {
  for (int64_t i = first(); i < bytes; i += kStride) to[i] = pattern[i % period];
}

__global__ void count_kernel(const uint8_t* pattern, int64_t period, const uint8_t* at,
                             int64_t bytes, unsigned long long* count) {
  unsigned long long mine = 0;
  for (int64_t i = first(); i < bytes; i += kStride) mine += at[i] != pattern[i % period];
  if (mine != 0) atomicAdd(count, mine);
}

}  // namespace

cudaError_t repeat(const uint8_t* pattern, int64_t period, uint8_t* to, int64_t bytes,
                   cudaStream_t stream) {
  repeat_kernel<<<kBlocks, kBlockThreads, 0, stream>>>(pattern, period, to, bytes);
  return cudaGetLastError();
}

cudaError_t count_differences(const uint8_t* pattern, int64_t period, const uint8_t* at,
                              int64_t bytes, unsigned long long* count, cudaStream_t stream) {
  count_kernel<<<kBlocks, kBlockThreads, 0, stream>>>(pattern, period, at, bytes, count);
  return cudaGetLastError();
}

}  // namespace fewbit::kernels::cuda
