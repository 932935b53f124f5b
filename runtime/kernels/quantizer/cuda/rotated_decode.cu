#include "kernels/quantizer/cuda/rotated_decode.cuh"
#include "kernels/quantizer/cuda/rotated_launch.hpp"

namespace fewbit::kernels::cuda {

cudaError_t launch_rotated_decode(ElementType type, int64_t group,
                                  const RotatedDecodeArguments& pass, cudaStream_t stream) {
  const auto kernel = by_type_and_group(type, group, [](auto known_type, auto known_group) {
    return rotated_decode_kernel<known_type.value, known_group.value>;
  });
  return launch(kernel, grid_of(pass.coded), stream, pass, code_levels(pass.bits, 0));
}

}  // namespace fewbit::kernels::cuda
