// Only where the kernels and libtorch have CUDA. What is enqueued is the current stream's of the
// tensors' device; nothing here waits for it.
#include <torch/library.h>

#include "kernels/quantizer/cuda/rotated.hpp"
#include "ops/cuda_launch.hpp"
#include "ops/rotated_passes.hpp"

namespace fewbit::ops {

namespace {

/// As the kernels take them.
template <class Tensor, class Memory>
std::vector<Tensor> at_devices(const int64_t* seed,
                               const std::vector<RotatedOfSeveral<Memory>>& several) {
  std::vector<Tensor> tensors;
  tensors.reserve(several.size());
  for (const auto& [count, offset, at] : several) {
    tensors.push_back({count, device_philox(seed, static_cast<uint64_t>(offset)), at.elements,
                       at.codes, at.constants});
  }
  return tensors;
}

struct RotatedCuda {
  static constexpr at::DeviceType kType = kCudaType;

  static void encode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed, const RotatedEncodeMemory& at) {
    check_launch(operation, kernels::cuda::rotated_encode(format, device_philox(seed, format.signs),
                                                          at.elements, at.codes, at.constants,
                                                          current_cuda_stream()));
  }

  static void encode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed,
                     const std::vector<RotatedOfSeveral<RotatedEncodeMemory>>& several) {
    using Tensor = kernels::cuda::RotatedEncodeTensor;
    check_launch(operation, kernels::cuda::rotated_encode(format, at_devices<Tensor>(seed, several),
                                                          current_cuda_stream()));
  }

  static void decode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed, const RotatedDecodeMemory& at) {
    check_launch(operation,
                 kernels::cuda::rotated_decode(format, device_philox(seed, format.signs), at.codes,
                                               at.constants, at.elements, current_cuda_stream()));
  }

  static void decode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed,
                     const std::vector<RotatedOfSeveral<RotatedDecodeMemory>>& several) {
    using Tensor = kernels::cuda::RotatedDecodeTensor;
    check_launch(operation, kernels::cuda::rotated_decode(format, at_devices<Tensor>(seed, several),
                                                          current_cuda_stream()));
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, FEWBIT_CUDA_KEY, m) {
  m.impl("rotated_encode", RotatedOperations<RotatedCuda>::encode);
  m.impl("rotated_decode", RotatedOperations<RotatedCuda>::decode);
  m.impl("rotated_encode_together", RotatedOperations<RotatedCuda>::encode_together);
  m.impl("rotated_decode_together", RotatedOperations<RotatedCuda>::decode_together);
}

}  // namespace fewbit::ops
