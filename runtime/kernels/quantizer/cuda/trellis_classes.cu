#include "kernels/quantizer/cuda/rotated_launch.hpp"
#include "kernels/quantizer/cuda/trellis_classes.cuh"

namespace fewbit::kernels::cuda {

cudaError_t launch_trellis_class_encode(ElementType type, int64_t group,
                                        const RotatedEncodeArguments& pass,
                                        const ClassArguments& classes, cudaStream_t stream) {
  const auto kernel = by_short_type_and_group(type, group, [](auto known_type, auto known_group) {
    return trellis_class_encode_kernel<known_type.value, known_group.value>;
  });
  return launch(kernel, grid_of(pass.coded), stream, pass, classes,
                trellis_tree(pass.bits, pass.states));
}

cudaError_t launch_trellis_class_decode(ElementType type, int64_t group,
                                        const RotatedDecodeArguments& pass,
                                        const ClassArguments& classes, cudaStream_t stream) {
  const auto kernel = by_short_type_and_group(type, group, [](auto known_type, auto known_group) {
    return trellis_class_decode_kernel<known_type.value, known_group.value>;
  });
  return launch(kernel, grid_of(pass.coded), stream, pass, classes,
                code_levels(pass.bits, pass.states));
}

}  // namespace fewbit::kernels::cuda
