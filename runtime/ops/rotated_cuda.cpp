// Only where the kernels and libtorch have CUDA. What is enqueued is the current stream's of the
// tensors' device; nothing here waits for it.
#include <torch/library.h>

#include "kernels/quantizer/cuda/rotated.hpp"
#include "ops/cuda_launch.hpp"
#include "ops/rotated_passes.hpp"

namespace fewbit::ops {

namespace {

struct RotatedCuda {
  static constexpr at::DeviceType kType = kCudaType;

  static void encode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed, const RotatedEncodeMemory& at) {
    check_launch(operation, kernels::cuda::rotated_encode(format, device_philox(seed, format.signs),
                                                          at.elements, at.codes, at.constants,
                                                          current_cuda_stream()));
  }

  static void decode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed, const RotatedDecodeMemory& at) {
    check_launch(operation,
                 kernels::cuda::rotated_decode(format, device_philox(seed, format.signs), at.codes,
                                               at.constants, at.elements, current_cuda_stream()));
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, FEWBIT_CUDA_KEY, m) {
  m.impl("rotated_encode", RotatedOperations<RotatedCuda>::encode);
  m.impl("rotated_decode", RotatedOperations<RotatedCuda>::decode);
}

}  // namespace fewbit::ops
