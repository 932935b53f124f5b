// Only where the kernels and libtorch have CUDA. What is enqueued is the current stream's of the
// tensors' device; nothing here waits for it.
#include <torch/library.h>

#include "kernels/quantizer/cuda/class_maps.hpp"
#include "ops/cuda_launch.hpp"
#include "ops/rotated_class_passes.hpp"

namespace fewbit::ops {

namespace {

kernels::cuda::DeviceClasses classes_of(const ClassMemory& memory) {
  return {memory.codes, memory.bits, memory.map, memory.classes};
}

struct RotatedClassCuda {
  static constexpr at::DeviceType kType = kCudaType;

  static void maps(const char* operation, const kernels::ClassMapsFormat& format, const void* x,
                   const uint8_t* codes, float* there, float* back) {
    check_launch(operation,
                 kernels::cuda::class_maps(format, x, codes, there, back, current_cuda_stream()));
  }

  static void encode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed, const ClassMemory& memory,
                     const RotatedEncodeMemory& at) {
    check_launch(operation, kernels::cuda::rotated_class_encode(
                                format, device_philox(seed, format.signs), classes_of(memory),
                                at.elements, at.codes, at.constants, current_cuda_stream()));
  }

  static void decode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed, const ClassMemory& memory,
                     const RotatedDecodeMemory& at) {
    check_launch(operation, kernels::cuda::rotated_class_decode(
                                format, device_philox(seed, format.signs), classes_of(memory),
                                at.codes, at.constants, at.elements, current_cuda_stream()));
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, FEWBIT_CUDA_KEY, m) {
  m.impl("class_maps", RotatedClassOperations<RotatedClassCuda>::maps);
  m.impl("rotated_class_encode", RotatedClassOperations<RotatedClassCuda>::encode);
  m.impl("rotated_class_decode", RotatedClassOperations<RotatedClassCuda>::decode);
}

}  // namespace fewbit::ops
