#pragma once

#include <cstdint>
#include <functional>

/// Stands in for CUDA's header, so that a host compiler builds the CUDA kernels as they are and
/// their launches run on this machine: block after block, every thread on a stack of its own until
/// it waits for others. Pointers of the device are the host's.

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)

using cudaStream_t = struct EmulatedStream*;

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidConfiguration = 9 };

struct dim3 {
  unsigned x;

  dim3(unsigned wide = 1) : x(wide) {}
};

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
};

/// Of the thread that runs now.
extern dim3 threadIdx;
extern dim3 blockIdx;

/// Wait until all other threads of the warp, or block, that have not ended wait too.
void __syncwarp(unsigned mask = ~0u);
void __syncthreads();
float __shfl_sync(unsigned mask, float value, int lane);

namespace emulator {

/// The order in which threads run from one wait to the next: where a wait is missing, results
/// differ.
enum class Order { ascending, descending };
extern Order order;

cudaError_t run(const cudaLaunchConfig_t& config, const std::function<void()>& thread);

}  // namespace emulator

template <class... Parameter, class... Argument>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameter...),
                               const Argument&... arguments) {
  return emulator::run(*config, [&] { kernel(arguments...); });
}
