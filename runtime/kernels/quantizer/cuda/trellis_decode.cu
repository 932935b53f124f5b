#include "kernels/quantizer/cuda/rotated_launch.hpp"
#include "kernels/quantizer/cuda/trellis_decode.cuh"

namespace fewbit::kernels::cuda {

cudaError_t launch_trellis_decode(ElementType type, int64_t group,
                                  const RotatedDecodeArguments& pass, cudaStream_t stream) {
  const auto kernel = by_type_and_group(type, group, [](auto known_type, auto known_group) {
    return trellis_decode_kernel<known_type.value, known_group.value>;
  });
  return launch(kernel, grid_of(pass.coded), stream, pass, code_levels(pass.bits, pass.states));
}

}  // namespace fewbit::kernels::cuda
