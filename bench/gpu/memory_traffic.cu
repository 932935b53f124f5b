#include "bench/gpu/memory_traffic.hpp"

namespace fewbit::bench {

namespace {

constexpr int kThreads = 256;

__global__ void copy_kernel(const uint4* from, uint4* to, int64_t vectors) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < vectors) to[i] = from[i];
}

/// The store never happens, but the compiler cannot know.
__global__ void read_kernel(const uint4* from, int64_t vectors, uint4* nowhere) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  const uint4 seen = from[i];
  if (seen.x == 0x9E3779B9u && seen.y == 0x7F4A7C15u) *nowhere = seen;
}

unsigned blocks_of(int64_t vectors) {
  return static_cast<unsigned>((vectors + kThreads - 1) / kThreads);
}

}  // namespace

cudaError_t copy_vectors(const void* from, void* to, int64_t bytes, cudaStream_t stream) {
  const int64_t vectors = bytes / 16;
  copy_kernel<<<blocks_of(vectors), kThreads, 0, stream>>>(static_cast<const uint4*>(from),
                                                           static_cast<uint4*>(to), vectors);
  return cudaGetLastError();
}

cudaError_t read_vectors(const void* from, int64_t bytes, cudaStream_t stream) {
  const int64_t vectors = bytes / 16;
  read_kernel<<<blocks_of(vectors), kThreads, 0, stream>>>(static_cast<const uint4*>(from), vectors,
                                                           nullptr);
  return cudaGetLastError();
}

}  // namespace fewbit::bench
