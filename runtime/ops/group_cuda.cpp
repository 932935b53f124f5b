// Only where the kernels and libtorch have CUDA. What is enqueued is the current stream's of the
// tensors' device; nothing here waits for it.
#include <torch/library.h>

#include "kernels/quantizer/cuda/group.hpp"
#include "ops/cuda_launch.hpp"
#include "ops/group_passes.hpp"
#include "ops/group_samples_passes.hpp"

namespace fewbit::ops {

namespace {

struct GroupCuda {
  static constexpr at::DeviceType kType = kCudaType;

  static void encode(const char* operation, const kernels::GroupFormat& format, const int64_t* seed,
                     const GroupEncodeMemory& at) {
    check_launch(operation, kernels::cuda::group_encode(
                                format, device_philox(seed, format.random.offset), at.elements,
                                at.codes, at.constants, at.count, current_cuda_stream()));
  }

  static void decode(const char* operation, const kernels::GroupFormat& format, const int64_t* seed,
                     const GroupDecodeMemory& at) {
    check_launch(operation, kernels::cuda::group_decode(
                                format, device_philox(seed, format.random.offset), at.codes,
                                at.constants, at.elements, at.count, current_cuda_stream()));
  }
};

struct SamplesCuda {
  static constexpr at::DeviceType kType = kCudaType;

  static constexpr auto offsets = check_sample_bytes_later;

  static void encode(const char* operation, const kernels::GroupFormat& format, const int64_t* seed,
                     const kernels::Samples& samples, const GroupEncodeMemory& at) {
    check_launch(operation, kernels::cuda::group_encode_samples(
                                format, device_philox(seed, format.random.offset), samples,
                                at.elements, at.codes, at.constants, current_cuda_stream()));
  }

  static void decode(const char* operation, const kernels::GroupFormat& format, const int64_t* seed,
                     const kernels::Samples& samples, const GroupDecodeMemory& at) {
    check_launch(operation, kernels::cuda::group_decode_samples(
                                format, device_philox(seed, format.random.offset), samples,
                                at.codes, at.constants, at.elements, current_cuda_stream()));
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, FEWBIT_CUDA_KEY, m) {
  m.impl("group_encode", GroupOperations<GroupCuda>::encode);
  m.impl("group_decode", GroupOperations<GroupCuda>::decode);
  m.impl("group_encode_samples", SampleOperations<SamplesCuda>::encode);
  m.impl("group_decode_samples", SampleOperations<SamplesCuda>::decode);
}

}  // namespace fewbit::ops
