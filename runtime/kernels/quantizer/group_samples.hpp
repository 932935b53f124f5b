#pragma once

#include <vector>

#include "kernels/quantizer/group.hpp"

/// Group quantisation of samples, each with its own number of bits, as ActNN spends them where they
/// lower the gradient's variance most. A sample is a run of `count` elements whose groups start
/// anew. Its codes, constants and values are those of group_encode and group_decode of that run
/// alone, with its bits and in random numbers of its own (format_of). Its codes take
/// code_bytes(count, bits) bytes, from where those of the sample before it end, so that each
/// begins at a multiple of 16; its constants follow those of the sample before it.
///
/// As in ActNN no sample has less than 1 bit: one level cannot have every element as its mean.
namespace fewbit::kernels {

struct Samples {
  const uint8_t* bits;     ///< [number], 1 to 8
  const int64_t* offsets;  ///< [number + 1]: code_offsets
  int64_t number;
  int64_t count;  ///< elements of each
};

/// Where the samples' codes begin, and last where they end, in bytes: sums of what those before it
/// take.
std::vector<int64_t> code_offsets(const uint8_t* bits, int64_t number, int64_t count);

/// How a sample is encoded. Streams of random numbers are 2^32 offsets apart, so that no two
/// samples round alike, nor do tensors whose offsets are numbers below that.
GroupFormat format_of(const GroupFormat& format, int64_t sample, int bits);

/// Parts for threads: encode_unit(group) elements of one sample, or what is left of it.
int64_t part_count(const Samples& samples, int64_t group);

/// group_encode of the parts [begin, end). Pointers point at the first sample; format.bits is not
/// read.
void group_encode_samples(const GroupFormat& format, const Samples& samples, const void* x,
                          uint8_t* codes, void* constants, int64_t begin, int64_t end);

/// group_decode of the parts [begin, end).
void group_decode_samples(const GroupFormat& format, const Samples& samples, const uint8_t* codes,
                          const void* constants, void* x, int64_t begin, int64_t end);

}  // namespace fewbit::kernels
