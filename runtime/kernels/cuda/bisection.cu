#include "kernels/cuda/encode.cuh"
#include "kernels/cuda/launch.hpp"

namespace fewbit::kernels::cuda {

cudaError_t launch_bisection(ElementType type, const EncodeArguments& pass,
                             const BisectionTable& table, cudaStream_t stream) {
  using Kernel = void(EncodeArguments, BisectionTable);
  static constexpr Kernel* kKernels[] = {
      bisection_kernel<ElementType::f32>, bisection_kernel<ElementType::bf16>,
      bisection_kernel<ElementType::f16>, bisection_kernel<ElementType::f64>};
  return launch(kKernels[static_cast<int>(type)], grid_of(pass.count), stream, pass, table);
}

}  // namespace fewbit::kernels::cuda
