#include "kernels/quantizer/cuda/rotated_encode.cuh"
#include "kernels/quantizer/cuda/rotated_launch.hpp"

namespace fewbit::kernels::cuda {

cudaError_t launch_rotated_encode(ElementType type, int64_t group,
                                  const RotatedEncodeArguments& pass, cudaStream_t stream) {
  const auto kernel = by_type_and_group(type, group, [](auto known_type, auto known_group) {
    return rotated_encode_kernel<known_type.value, known_group.value>;
  });
  return launch(kernel, grid_of(pass.coded), stream, pass, magnitude_tree(pass.bits));
}

}  // namespace fewbit::kernels::cuda
