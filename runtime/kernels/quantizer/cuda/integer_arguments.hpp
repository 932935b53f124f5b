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
  /// 2^20 / bits rounded up, by which the bits of a tile, at most 2^15, are divided by `bits`.
  uint32_t per_bit;
};

constexpr uint32_t per_bit_of(int bits) {
  return (uint32_t{1} << 20) / static_cast<uint32_t>(bits) + 1;
}

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
