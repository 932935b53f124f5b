#include "kernels/quantizer/cuda/rotated_encode.cuh"

namespace fewbit::kernels::cuda {

template cudaError_t launch_rotated_encode_of<ElementType::f32>(
    int64_t, std::span<const RotatedEncodeArguments>, cudaStream_t);

}  // namespace fewbit::kernels::cuda
