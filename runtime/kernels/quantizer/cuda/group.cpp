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

GroupEncodeArguments encoding_of(const GroupFormat& format, DevicePhilox random, const void* x,
                                 uint8_t* codes, void* constants, int64_t count) {
  return {x,           codes,         constants,         count, shift_of(format),
          format.bits, is_aligned(x), is_aligned(codes), random};
}

GroupDecodeArguments decoding_of(const GroupFormat& format, DevicePhilox random,
                                 const uint8_t* codes, const void* constants, void* x,
                                 int64_t count) {
  return {codes,         constants,         x,     count, shift_of(format), format.bits,
          is_aligned(x), is_aligned(codes), random};
}

template <class Pass>
OfSamples<Pass> of_samples(const GroupFormat& format, const Pass& pass, const Samples& samples) {
  return {pass, samples, element_bytes(format.type),
          group_count(samples.count, format.group) * constant_bytes(format.type), 0};
}

}  // namespace

cudaError_t group_encode(const GroupFormat& format, DevicePhilox random, const void* x,
                         uint8_t* codes, void* constants, int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return launch_group_encode(format.type, format.rounding,
                             encoding_of(format, random, x, codes, constants, count), stream);
}

cudaError_t group_decode(const GroupFormat& format, DevicePhilox random, const uint8_t* codes,
                         const void* constants, void* x, int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return launch_group_decode(format.type, format.rounding,
                             decoding_of(format, random, codes, constants, x, count), stream);
}

cudaError_t group_encode_samples(const GroupFormat& format, DevicePhilox random,
                                 const Samples& samples, const void* x, uint8_t* codes,
                                 void* constants, cudaStream_t stream) {
  if (samples.count == 0 || samples.number == 0) return cudaSuccess;
  const auto pass = encoding_of(format, random, x, codes, constants, samples.count);
  return launch_group_encode_samples(format.type, format.rounding,
                                     of_samples(format, pass, samples), stream);
}

cudaError_t group_decode_samples(const GroupFormat& format, DevicePhilox random,
                                 const Samples& samples, const uint8_t* codes,
                                 const void* constants, void* x, cudaStream_t stream) {
  if (samples.count == 0 || samples.number == 0) return cudaSuccess;
  const auto pass = decoding_of(format, random, codes, constants, x, samples.count);
  return launch_group_decode_samples(format.type, format.rounding,
                                     of_samples(format, pass, samples), stream);
}

}  // namespace fewbit::kernels::cuda
