#include "kernels/activation/cuda/backward.cuh"
#include "kernels/activation/cuda/launch.hpp"

namespace fewbit::kernels::cuda {

namespace {

template <ElementType kType, bool kZeros>
cudaError_t launch_backward(int bits, const BackwardArguments& pass, const Levels& levels,
                            cudaStream_t stream) {
  using Kernel = void(BackwardArguments, Levels);
  static constexpr Kernel* kKernels[] = {
      backward_kernel<kType, 1, kZeros>, backward_kernel<kType, 2, kZeros>,
      backward_kernel<kType, 3, kZeros>, backward_kernel<kType, 4, kZeros>,
      backward_kernel<kType, 5, kZeros>, backward_kernel<kType, 6, kZeros>,
      backward_kernel<kType, 7, kZeros>, backward_kernel<kType, 8, kZeros>};
  return launch(kKernels[bits - 1], grid_of(pass.count), stream, pass, levels);
}

template <ElementType kType>
cudaError_t launch_backward(int bits, const BackwardArguments& pass, const Levels& levels,
                            cudaStream_t stream) {
  return levels.has_zero ? launch_backward<kType, true>(bits, pass, levels, stream)
                         : launch_backward<kType, false>(bits, pass, levels, stream);
}

}  // namespace

cudaError_t launch_backward(ElementType type, const BackwardArguments& pass, const StepView& steps,
                            cudaStream_t stream) {
  const int bits = steps.bits;
  const Levels levels = levels_of(steps);
  switch (type) {
    case ElementType::f32:
      return launch_backward<ElementType::f32>(bits, pass, levels, stream);
    case ElementType::bf16:
      return launch_backward<ElementType::bf16>(bits, pass, levels, stream);
    case ElementType::f16:
      return launch_backward<ElementType::f16>(bits, pass, levels, stream);
    default:
      return launch(backward_doubles_kernel, (pass.count + kThreads - 1) / kThreads, stream,
                    static_cast<const double*>(pass.dy), pass.codes, static_cast<double*>(pass.dx),
                    pass.count, bits, wide_levels_of(steps));
  }
}

}  // namespace fewbit::kernels::cuda
