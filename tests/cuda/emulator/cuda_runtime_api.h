#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

/// Stands in for CUDA's header, so that a host compiler builds the CUDA kernels as they are and
/// their launches run on this machine: block after block, every thread on a stack of its own until
/// it waits for others. Pointers of the device are the host's.

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)

/// Launches run when they are enqueued, except in a capture, or where `defer` takes them.
struct EmulatedStream {
  bool is_capturing = false;
  std::vector<std::function<void()>> captured;
  std::function<void(std::function<void()>)> defer;
};
using cudaStream_t = EmulatedStream*;

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNotSupported = 801
};

struct dim3 {
  unsigned x;
  unsigned y;

  dim3(unsigned wide = 1, unsigned high = 1) : x(wide), y(high) {}
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

namespace emulator {

/// What the lane of the same warp gives; lanes count round.
uint32_t exchanged(uint32_t given, unsigned lane);

/// The order in which threads run from one wait to the next: where a wait is missing, results
/// differ.
enum class Order { ascending, descending };
extern Order order;

/// Of each launch only so many blocks, the last ones, are run; 0: all are.
extern unsigned last_blocks;

cudaError_t run(const cudaLaunchConfig_t& config, const std::function<void()>& thread);

}  // namespace emulator

template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  struct Words {
    uint32_t word[sizeof(T) / 4];
  };
  auto words = std::bit_cast<Words>(value);
  for (uint32_t& word : words.word) word = emulator::exchanged(word, static_cast<unsigned>(lane));
  return std::bit_cast<T>(words);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int distance) {
  return __shfl_sync(mask, value, static_cast<int>(threadIdx.x) ^ distance);
}

/// Bit i: whether lane i's is true; all lanes take part.
unsigned __ballot_sync(unsigned mask, int truth);
int __any_sync(unsigned mask, int truth);

template <class... Parameter, class... Argument>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameter...),
                               const Argument&... arguments) {
  return emulator::run(*config, [=] { kernel(arguments...); });
}

// What programs call beside launches.

using cudaGraph_t = struct EmulatedGraph*;
using cudaGraphExec_t = struct EmulatedGraph*;

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal };
inline constexpr unsigned cudaStreamNonBlocking = 1;

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

cudaError_t cudaMalloc(void** at, size_t bytes);
cudaError_t cudaFree(void* at);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemset(void* at, int value, size_t bytes);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
