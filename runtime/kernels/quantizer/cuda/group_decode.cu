#include "kernels/quantizer/cuda/group_decode.cuh"
#include "kernels/quantizer/cuda/group_doubles.cuh"

namespace fewbit::kernels::cuda {

namespace {

template <Rounding kRounding>
cudaError_t launch_group_decode(ElementType type, const GroupDecodeArguments& pass,
                                cudaStream_t stream) {
  using Kernel = void(GroupDecodeArguments);
  static constexpr Kernel* kKernels[] = {group_decode_kernel<ElementType::f32, kRounding>,
                                         group_decode_kernel<ElementType::bf16, kRounding>,
                                         group_decode_kernel<ElementType::f16, kRounding>};
  if (type != ElementType::f64) {
    return launch(kKernels[static_cast<int>(type)], grid_of(pass.count), stream, pass);
  }
  return launch(group_decode_doubles_kernel<kRounding>, (pass.count + kThreads - 1) / kThreads,
                stream, pass);
}

}  // namespace

cudaError_t launch_group_decode(ElementType type, Rounding rounding,
                                const GroupDecodeArguments& pass, cudaStream_t stream) {
  switch (rounding) {
    case Rounding::dithered:
      return launch_group_decode<Rounding::dithered>(type, pass, stream);
    case Rounding::squares:
      return launch_group_decode<Rounding::squares>(type, pass, stream);
    default:
      return launch_group_decode<Rounding::nearest>(type, pass, stream);
  }
}

}  // namespace fewbit::kernels::cuda
