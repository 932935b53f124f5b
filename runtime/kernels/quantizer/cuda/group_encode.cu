#include "kernels/quantizer/cuda/group_doubles.cuh"
#include "kernels/quantizer/cuda/group_encode.cuh"

namespace fewbit::kernels::cuda {

namespace {

template <Rounding kRounding>
cudaError_t launch_group_encode(ElementType type, const GroupEncodeArguments& pass,
                                cudaStream_t stream) {
  using Kernel = void(GroupEncodeArguments);
  static constexpr Kernel* kKernels[] = {group_encode_kernel<ElementType::f32, kRounding>,
                                         group_encode_kernel<ElementType::bf16, kRounding>,
                                         group_encode_kernel<ElementType::f16, kRounding>};
  if (type != ElementType::f64) {
    return launch(kKernels[static_cast<int>(type)], grid_of(pass.count), stream, pass);
  }
  return launch(group_encode_doubles_kernel<kRounding>, grid_of(pass.count), stream, pass);
}

}  // namespace

cudaError_t launch_group_encode(ElementType type, Rounding rounding,
                                const GroupEncodeArguments& pass, cudaStream_t stream) {
  switch (rounding) {
    case Rounding::nearest:
      return launch_group_encode<Rounding::nearest>(type, pass, stream);
    case Rounding::squares:
      return launch_group_encode<Rounding::squares>(type, pass, stream);
    default:
      return launch_group_encode<Rounding::stochastic>(type, pass, stream);
  }
}

}  // namespace fewbit::kernels::cuda
