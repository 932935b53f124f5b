#pragma once

#include <cstdint>

/// What the kernels take by value.
namespace fewbit::kernels::cuda {

struct IntegerEncodeArguments {
  const void* x;
  uint8_t* codes;
  int64_t count;
  uint64_t minimum;
  int bits;
  uint32_t per_bit;  ///< per_bit_of(bits)
};

struct IntegerDecodeArguments {
  const uint8_t* codes;
  void* x;
  int64_t count;
  uint64_t minimum;
  int bits;
};

struct MaskEncodeArguments {
  const void* x;
  uint8_t* codes;
  int64_t count;
  bool is_aligned;  ///< both, for 16-byte accesses
};

struct MaskDecodeArguments {
  const uint8_t* codes;
  void* x;
  int64_t count;
  bool is_aligned;
};

}  // namespace fewbit::kernels::cuda
