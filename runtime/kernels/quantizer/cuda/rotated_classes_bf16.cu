#include "kernels/quantizer/cuda/rotated_classes.cuh"

namespace fewbit::kernels::cuda {

template cudaError_t launch_class_encode_of<ElementType::bf16>(int64_t,
                                                               const RotatedEncodeArguments&,
                                                               const ClassArguments&, cudaStream_t);
template cudaError_t launch_class_decode_of<ElementType::bf16>(int64_t,
                                                               const RotatedDecodeArguments&,
                                                               const ClassArguments&, cudaStream_t);

}  // namespace fewbit::kernels::cuda
