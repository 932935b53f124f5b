#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "kernels/element_type.hpp"
#include "kernels/philox.hpp"
#include "kernels/quantizer/group.hpp"

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

/// To codes dithered is stochastic, and from them stochastic is nearest.
cudaError_t launch_group_encode(ElementType type, Rounding rounding,
                                const GroupEncodeArguments& pass, cudaStream_t stream);
cudaError_t launch_group_decode(ElementType type, Rounding rounding,
                                const GroupDecodeArguments& pass, cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
