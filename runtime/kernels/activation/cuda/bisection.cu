#include "kernels/activation/cuda/encode.cuh"
#include "kernels/activation/cuda/launch.hpp"

namespace fewbit::kernels::cuda {

cudaError_t launch_bisection(ElementType type, const EncodeArguments& pass, const StepView& steps,
                             cudaStream_t stream) {
  const int64_t blocks = grid_of(pass.count);
  if (type == ElementType::f64) {
    return launch(bisection_kernel<ElementType::f64, double>, blocks, stream, pass,
                  bisection_table<double>(steps));
  }
  using Kernel = void(EncodeArguments, BisectionTable<float>);
  static constexpr Kernel* kKernels[] = {bisection_kernel<ElementType::f32, float>,
                                         bisection_kernel<ElementType::bf16, float>,
                                         bisection_kernel<ElementType::f16, float>};
  return launch(kKernels[static_cast<int>(type)], blocks, stream, pass,
                bisection_table<float>(steps));
}

}  // namespace fewbit::kernels::cuda
