#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace fewbit::bench {

/// Copies `bytes`, a multiple of 16, between 16-byte aligned places, one vector a thread.
cudaError_t copy_vectors(const void* from, void* to, int64_t bytes, cudaStream_t stream);

/// Reads `bytes`, a multiple of 16, so that nothing else stays in the caches, and nothing that
/// would have to be written back.
cudaError_t read_vectors(const void* from, int64_t bytes, cudaStream_t stream);

}  // namespace fewbit::bench
