#include "kernels/quantizer/cuda/group.hpp"

#include <bit>

#include "kernels/quantizer/cuda/group_arguments.hpp"

namespace fewbit::kernels::cuda {

namespace {

bool is_aligned(const void* at) {
  return reinterpret_cast<uintptr_t>(at) % 16 == 0;
}

int shift_of(const GroupFormat& format) {
  return std::countr_zero(static_cast<uint64_t>(format.group));
}

}  // namespace

cudaError_t group_encode(const GroupFormat& format, DevicePhilox random, const void* x,
                         uint8_t* codes, void* constants, int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return launch_group_encode(format.type, format.rounding,
                             {x, codes, constants, count, shift_of(format), format.bits,
                              is_aligned(x), is_aligned(codes), random},
                             stream);
}

cudaError_t group_decode(const GroupFormat& format, DevicePhilox random, const uint8_t* codes,
                         const void* constants, void* x, int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return launch_group_decode(format.type, format.rounding,
                             {codes, constants, x, count, shift_of(format), format.bits,
                              is_aligned(x), is_aligned(codes), random},
                             stream);
}

}  // namespace fewbit::kernels::cuda
