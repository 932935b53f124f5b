#include <algorithm>

#include "kernels/quantizer/cuda/group_samples.cuh"

namespace fewbit::kernels::cuda {

namespace {

/// The longest column of rows of blocks that there is.
constexpr int64_t kMostRows = 65535;

/// A row of blocks for each sample.
template <class Pass>
cudaError_t launch_samples(void (*kernel)(OfSamples<Pass>), OfSamples<Pass> all, int64_t blocks,
                           cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  for (all.first = 0; all.first < all.samples.number && error == cudaSuccess;
       all.first += kMostRows) {
    const int64_t rows = std::min(all.samples.number - all.first, kMostRows);
    error = launch(kernel, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(rows)), stream,
                   all);
  }
  return error;
}

template <Rounding kRounding>
cudaError_t launch_encode(ElementType type, const OfSamples<GroupEncodeArguments>& all,
                          cudaStream_t stream) {
  using Kernel = void(OfSamples<GroupEncodeArguments>);
  static constexpr Kernel* kKernels[] = {group_encode_samples_kernel<ElementType::f32, kRounding>,
                                         group_encode_samples_kernel<ElementType::bf16, kRounding>,
                                         group_encode_samples_kernel<ElementType::f16, kRounding>,
                                         group_encode_samples_kernel<ElementType::f64, kRounding>};
  return launch_samples(kKernels[static_cast<int>(type)], all, grid_of(all.pass.count), stream);
}

template <Rounding kRounding>
cudaError_t launch_decode(ElementType type, const OfSamples<GroupDecodeArguments>& all,
                          cudaStream_t stream) {
  using Kernel = void(OfSamples<GroupDecodeArguments>);
  static constexpr Kernel* kKernels[] = {group_decode_samples_kernel<ElementType::f32, kRounding>,
                                         group_decode_samples_kernel<ElementType::bf16, kRounding>,
                                         group_decode_samples_kernel<ElementType::f16, kRounding>,
                                         group_decode_samples_kernel<ElementType::f64, kRounding>};
  const bool is_double = type == ElementType::f64;
  const int64_t count = all.pass.count;
  return launch_samples(kKernels[static_cast<int>(type)], all,
                        is_double ? (count + kThreads - 1) / kThreads : grid_of(count), stream);
}

}  // namespace

cudaError_t launch_group_encode_samples(ElementType type, Rounding rounding,
                                        const OfSamples<GroupEncodeArguments>& all,
                                        cudaStream_t stream) {
  switch (rounding) {
    case Rounding::nearest:
      return launch_encode<Rounding::nearest>(type, all, stream);
    case Rounding::squares:
      return launch_encode<Rounding::squares>(type, all, stream);
    default:
      return launch_encode<Rounding::stochastic>(type, all, stream);
  }
}

cudaError_t launch_group_decode_samples(ElementType type, Rounding rounding,
                                        const OfSamples<GroupDecodeArguments>& all,
                                        cudaStream_t stream) {
  switch (rounding) {
    case Rounding::dithered:
      return launch_decode<Rounding::dithered>(type, all, stream);
    case Rounding::squares:
      return launch_decode<Rounding::squares>(type, all, stream);
    default:
      return launch_decode<Rounding::nearest>(type, all, stream);
  }
}

}  // namespace fewbit::kernels::cuda
