#pragma once

#include "kernels/quantizer/cpu/group_constants.hpp"

/// What the passes of all instruction sets share, and the stages of fp64, which are plain code.
namespace fewbit::kernels {

struct GroupEncodeCall {
  const GroupFormat* format;
  const void* x;
  uint8_t* codes;
  void* constants;
  Range range;
};

struct GroupDecodeCall {
  const GroupFormat* format;
  const uint8_t* codes;
  const void* constants;
  void* x;
  Range range;
};

/// u in units of 2^-kFractionBits: of an element's random word, and to nearest.
constexpr int32_t addend_of(uint32_t word) {
  return static_cast<int32_t>(word >> (32 - kFractionBits));
}
inline constexpr int32_t kHalf = 1 << (kFractionBits - 1);

/// d of an element's random word in units of kDitherUnit: the middle of what the word stands for.
constexpr int32_t dither_of(uint32_t word) {
  return (1 << kFractionBits) - 1 - 2 * addend_of(word);
}
inline constexpr float kDitherUnit = 0x1p-24f;

/// The constants of `count` doubles, one group, and their codes. `words`: null to nearest.
GroupConstants<double> encode_doubles(int bits, const double* x, const uint32_t* words,
                                      int64_t count, uint8_t* codes);

/// `words`: null unless dithered.
void decode_doubles(int bits, const GroupConstants<double>& of, const uint8_t* codes,
                    const uint32_t* words, int64_t count, double* x);

}  // namespace fewbit::kernels
