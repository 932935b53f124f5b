#include "kernels/quantizer/cuda/rotated_decode.cuh"

namespace fewbit::kernels::cuda {

template cudaError_t launch_rotated_decode_of<ElementType::bf16>(
    int64_t, std::span<const RotatedDecodeArguments>, cudaStream_t);

}  // namespace fewbit::kernels::cuda
