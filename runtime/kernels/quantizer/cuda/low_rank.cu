#include "kernels/quantizer/cuda/low_rank.cuh"
#include "kernels/quantizer/cuda/low_rank.hpp"
#include "kernels/quantizer/cuda/rotated_launch.hpp"

namespace fewbit::kernels::cuda {

namespace {

cudaLaunchConfig_t threads_for(int64_t threads, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((threads + kThreadsOfBlock - 1) / kThreadsOfBlock));
  config.blockDim = dim3(kThreadsOfBlock);
  config.stream = stream;
  return config;
}

}  // namespace

cudaError_t low_rank_project(ElementType type, const void* x, const DeviceDirections& directions,
                             int64_t outer, float* coefficients, cudaStream_t stream) {
  const int64_t places = outer * directions.place.inner;
  if (places == 0) return cudaSuccess;
  if (directions.place.inner == 1) {
    const cudaLaunchConfig_t config = threads_for(places * kDotSums, stream);
    const auto kernel =
        by_short_type(type, [](auto known) { return low_rank_dot_kernel<known.value>; });
    return cudaLaunchKernelEx(&config, kernel, directions, x, places, coefficients);
  }
  const cudaLaunchConfig_t config = threads_for(places, stream);
  const auto kernel =
      by_short_type(type, [](auto known) { return low_rank_sum_kernel<known.value>; });
  return cudaLaunchKernelEx(&config, kernel, directions, x, places, coefficients);
}

cudaError_t low_rank_take(ElementType type, const void* x, const DeviceLowRank& low_rank,
                          int64_t count, float* rest, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const cudaLaunchConfig_t config = threads_for(count, stream);
  const auto kernel =
      by_short_type(type, [](auto known) { return low_rank_take_kernel<known.value>; });
  return cudaLaunchKernelEx(&config, kernel, low_rank, x, count, rest);
}

cudaError_t low_rank_put_back(ElementType type, const float* rest, const DeviceLowRank& low_rank,
                              int64_t count, void* x, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const cudaLaunchConfig_t config = threads_for(count, stream);
  const auto kernel =
      by_short_type(type, [](auto known) { return low_rank_put_back_kernel<known.value>; });
  return cudaLaunchKernelEx(&config, kernel, low_rank, rest, count, x);
}

}  // namespace fewbit::kernels::cuda
