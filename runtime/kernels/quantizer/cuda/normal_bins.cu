#include "kernels/quantizer/cuda/normal_bins.cuh"
#include "kernels/quantizer/cuda/normal_bins.hpp"
#include "kernels/quantizer/cuda/rotated_launch.hpp"

namespace fewbit::kernels::cuda {

cudaError_t normal_bins_encode(ElementType type, const NormalBins& bins, const void* x,
                               uint8_t* codes, int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const NormalBinsEncodeArguments pass = {
      bins, x, codes, count, 1.0f / bins.width, per_bit_of(bins.bits)};
  const auto kernel =
      by_short_type(type, [](auto known) { return normal_bins_encode_kernel<known.value>; });
  return launch(kernel, grid_of(count), stream, pass);
}

cudaError_t normal_bins_decode(ElementType type, const NormalBins& bins, const uint8_t* codes,
                               void* x, int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const NormalBinsDecodeArguments pass = {bins, codes, x, count};
  const auto kernel =
      by_short_type(type, [](auto known) { return normal_bins_decode_kernel<known.value>; });
  return launch(kernel, grid_of(count), stream, pass);
}

}  // namespace fewbit::kernels::cuda
