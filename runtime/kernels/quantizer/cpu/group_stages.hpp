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

/// The constants of `count` doubles, one group, and their codes.
GroupConstants<double> encode_doubles(const GroupFormat& format, const double* x,
                                      const uint32_t* words, int64_t count, uint8_t* codes);

void decode_doubles(const GroupFormat& format, const GroupConstants<double>& of,
                    const uint8_t* codes, const uint32_t* words, int64_t count, double* x);

}  // namespace fewbit::kernels
