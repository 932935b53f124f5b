#include "kernels/quantizer/cuda/integers.hpp"
#include "kernels/quantizer/cuda/masks.cuh"

namespace fewbit::kernels::cuda {

namespace {

template <class... Pointer>
bool are_aligned(Pointer... at) {
  return ((reinterpret_cast<uintptr_t>(at) % 16 == 0) && ...);
}

template <class M>
cudaError_t launch_encode(const void* x, uint8_t* codes, int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const MaskEncodeArguments pass = {x, codes, count, are_aligned(x, codes)};
  return launch(mask_encode_kernel<M>, grid_of(count), stream, pass);
}

template <class M>
cudaError_t launch_decode(const uint8_t* codes, void* x, int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const MaskDecodeArguments pass = {codes, x, count, are_aligned(codes, x)};
  return launch(mask_decode_kernel<M>, grid_of(count), stream, pass);
}

}  // namespace

cudaError_t sign_encode(ElementType type, const void* x, uint8_t* codes, int64_t count,
                        cudaStream_t stream) {
  switch (type) {
    case ElementType::f32:
      return launch_encode<MaskF32>(x, codes, count, stream);
    case ElementType::bf16:
      return launch_encode<MaskBf16>(x, codes, count, stream);
    case ElementType::f16:
      return launch_encode<MaskF16>(x, codes, count, stream);
    default:
      return launch_encode<MaskF64>(x, codes, count, stream);
  }
}

cudaError_t sign_decode(ElementType type, const uint8_t* codes, void* x, int64_t count,
                        cudaStream_t stream) {
  switch (type) {
    case ElementType::f32:
      return launch_decode<MaskF32>(codes, x, count, stream);
    case ElementType::bf16:
      return launch_decode<MaskBf16>(codes, x, count, stream);
    case ElementType::f16:
      return launch_decode<MaskF16>(codes, x, count, stream);
    default:
      return launch_decode<MaskF64>(codes, x, count, stream);
  }
}

cudaError_t mask_encode(const bool* x, uint8_t* codes, int64_t count, cudaStream_t stream) {
  return launch_encode<MaskBool>(x, codes, count, stream);
}

cudaError_t mask_decode(const uint8_t* codes, bool* x, int64_t count, cudaStream_t stream) {
  return launch_decode<MaskBool>(codes, x, count, stream);
}

}  // namespace fewbit::kernels::cuda
