#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "kernels/element_type.hpp"
#include "kernels/philox.hpp"
#include "kernels/quantizer/group_samples.hpp"

/// What the kernels take by value.
namespace fewbit::kernels::cuda {

struct GroupEncodeArguments {
  const void* x;
  uint8_t* codes;
  void* constants;
  int64_t count;
  int shift;  ///< groups have 2^shift elements
  int bits;
  bool is_aligned;  ///< x, for 16-byte accesses
  bool codes_are_aligned;
  DevicePhilox random;
};

struct GroupDecodeArguments {
  const uint8_t* codes;
  const void* constants;
  void* x;
  int64_t count;
  int shift;  ///< groups have 2^shift elements
  int bits;
  bool is_aligned;
  bool codes_are_aligned;
  DevicePhilox random;
};

/// Passes over samples that lie one after the other, a row of blocks each.
template <class Pass>
struct OfSamples {
  Pass pass;        ///< of the first; its bits are not read
  Samples samples;  ///< their bits and offsets in the device's memory
  int64_t element_bytes;
  int64_t constant_bytes;  ///< of a sample's groups
  int64_t first;           ///< sample of the launch
};

/// To codes dithered is stochastic, and from them stochastic is nearest.
cudaError_t launch_group_encode(ElementType type, Rounding rounding,
                                const GroupEncodeArguments& pass, cudaStream_t stream);
cudaError_t launch_group_decode(ElementType type, Rounding rounding,
                                const GroupDecodeArguments& pass, cudaStream_t stream);
cudaError_t launch_group_encode_samples(ElementType type, Rounding rounding,
                                        const OfSamples<GroupEncodeArguments>& all,
                                        cudaStream_t stream);
cudaError_t launch_group_decode_samples(ElementType type, Rounding rounding,
                                        const OfSamples<GroupDecodeArguments>& all,
                                        cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
