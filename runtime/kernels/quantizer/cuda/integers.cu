#include "kernels/quantizer/cuda/integers.cuh"
#include "kernels/quantizer/cuda/integers.hpp"

namespace fewbit::kernels::cuda {

cudaError_t integer_encode(IntegerType type, const void* x, int64_t minimum, int bits,
                           uint8_t* codes, int64_t count, cudaStream_t stream) {
  using Kernel = void(IntegerEncodeArguments);
  static constexpr Kernel* kKernels[] = {
      integer_encode_kernel<IntegerType::boolean>, integer_encode_kernel<IntegerType::u8>,
      integer_encode_kernel<IntegerType::i32>, integer_encode_kernel<IntegerType::i64>};
  if (count == 0 || bits == 0) return cudaSuccess;
  const IntegerEncodeArguments pass = {x,    codes,           count, static_cast<uint64_t>(minimum),
                                       bits, per_bit_of(bits)};
  return launch(kKernels[static_cast<int>(type)], grid_of(count), stream, pass);
}

cudaError_t integer_decode(IntegerType type, const uint8_t* codes, int64_t minimum, int bits,
                           void* x, int64_t count, cudaStream_t stream) {
  using Kernel = void(IntegerDecodeArguments);
  static constexpr Kernel* kKernels[] = {
      integer_decode_kernel<IntegerType::boolean>, integer_decode_kernel<IntegerType::u8>,
      integer_decode_kernel<IntegerType::i32>, integer_decode_kernel<IntegerType::i64>};
  if (count == 0) return cudaSuccess;
  const IntegerDecodeArguments pass = {codes, x, count, static_cast<uint64_t>(minimum), bits};
  return launch(kKernels[static_cast<int>(type)], grid_of(count), stream, pass);
}

}  // namespace fewbit::kernels::cuda
