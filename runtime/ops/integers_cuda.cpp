// Only where the kernels and libtorch have CUDA. What is enqueued is the current stream's of the
// tensors' device; nothing here waits for it, so that no element without a code is told of.
#include <torch/library.h>

#include "kernels/quantizer/cuda/integers.hpp"
#include "ops/cuda_launch.hpp"
#include "ops/integer_passes.hpp"

namespace fewbit::ops {

namespace {

struct IntegersCuda {
  static constexpr at::DeviceType kType = kCudaType;

  static void encode(const char* operation, const IntegerFormat& format, const void* x,
                     uint8_t* codes, int64_t count) {
    check_launch(operation,
                 kernels::cuda::integer_encode(format.type, x, format.minimum, format.bits, codes,
                                               count, current_cuda_stream()));
  }

  static void decode(const char* operation, const IntegerFormat& format, const uint8_t* codes,
                     void* x, int64_t count) {
    check_launch(operation,
                 kernels::cuda::integer_decode(format.type, codes, format.minimum, format.bits, x,
                                               count, current_cuda_stream()));
  }

  static void encode_mask(const char* operation, std::optional<kernels::ElementType> type,
                          const void* x, uint8_t* codes, int64_t count) {
    const cudaStream_t stream = current_cuda_stream();
    check_launch(operation, type ? kernels::cuda::sign_encode(*type, x, codes, count, stream)
                                 : kernels::cuda::mask_encode(static_cast<const bool*>(x), codes,
                                                              count, stream));
  }

  static void decode_mask(const char* operation, std::optional<kernels::ElementType> type,
                          const uint8_t* codes, void* x, int64_t count) {
    const cudaStream_t stream = current_cuda_stream();
    check_launch(operation,
                 type ? kernels::cuda::sign_decode(*type, codes, x, count, stream)
                      : kernels::cuda::mask_decode(codes, static_cast<bool*>(x), count, stream));
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, FEWBIT_CUDA_KEY, m) {
  m.impl("integer_encode", IntegerOperations<IntegersCuda>::encode);
  m.impl("integer_decode", IntegerOperations<IntegersCuda>::decode);
  m.impl("sign_encode", IntegerOperations<IntegersCuda>::encode_mask);
  m.impl("sign_decode", IntegerOperations<IntegersCuda>::decode_mask);
}

}  // namespace fewbit::ops
