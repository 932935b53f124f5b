// Only where the kernels and libtorch have CUDA. What is enqueued is the current stream's of the
// tensors' device; nothing here waits for it.
#include <torch/library.h>

#include "kernels/quantizer/cuda/normal_bins.hpp"
#include "ops/cuda_launch.hpp"
#include "ops/normal_bins_passes.hpp"

namespace fewbit::ops {

namespace {

struct NormalBinsCuda {
  static constexpr at::DeviceType kType = kCudaType;

  static void encode(const char* operation, kernels::ElementType type,
                     const kernels::NormalBins& bins, const void* x, uint8_t* codes,
                     int64_t count) {
    check_launch(operation, kernels::cuda::normal_bins_encode(type, bins, x, codes, count,
                                                              current_cuda_stream()));
  }

  static void decode(const char* operation, kernels::ElementType type,
                     const kernels::NormalBins& bins, const uint8_t* codes, void* x,
                     int64_t count) {
    check_launch(operation, kernels::cuda::normal_bins_decode(type, bins, codes, x, count,
                                                              current_cuda_stream()));
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, FEWBIT_CUDA_KEY, m) {
  m.impl("normal_bins_encode", NormalBinsOperations<NormalBinsCuda>::encode);
  m.impl("normal_bins_decode", NormalBinsOperations<NormalBinsCuda>::decode);
}

}  // namespace fewbit::ops
