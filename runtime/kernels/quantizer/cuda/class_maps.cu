#include "kernels/quantizer/cuda/class_maps.cuh"
#include "kernels/quantizer/cuda/class_maps.hpp"
#include "kernels/quantizer/cuda/rotated_launch.hpp"

namespace fewbit::kernels::cuda {

cudaError_t class_maps(const ClassMapsFormat& format, const void* x, const uint8_t* codes,
                       float* there, float* back, cudaStream_t stream) {
  if (format.classes == 0) return cudaSuccess;
  const auto kernel =
      by_short_type(format.type, [](auto known) { return class_maps_kernel<known.value>; });
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(kSampleLanes);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, format, x, codes, there, back);
}

}  // namespace fewbit::kernels::cuda
