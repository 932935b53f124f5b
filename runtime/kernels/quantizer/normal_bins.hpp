#pragma once

#include <cstdint>

#include "kernels/element_type.hpp"
#include "kernels/stream/code_stream.hpp"

/// Codes of what norms take in, by the bins in which it lies of what they make of it:
/// u = (x - mean) * scale * sign, of which the norm's output is a multiple of u - zero that is not
/// negative. All instruction sets, ranges and floating-point modes give the same.
namespace fewbit::kernels {

/// Deviations that bins reach to either side of the mean.
inline constexpr float kReachOfBins = 3.0f;

constexpr float width_of_bins(int bits) {
  return 2.0f * kReachOfBins / static_cast<float>(1 << bits);
}

/// Which of some numbers an element has: i / run % count for element i.
struct Cycle {
  int64_t run = 1;
  int64_t count = 1;
};

/// Bins of one width from `first` on, and codes of u from `zero` on that are at least `shift`, a
/// whole number from 1 to 2^bits - 1, all others below.
struct NormalBins {
  int bits;     ///< 1 to 8
  float width;  ///< of a bin of u
  Cycle statistics;
  const float* mean;
  const float* scale;  ///< 1 over the deviation; to decode, the deviation itself
  Cycle weights;
  const float* sign;  ///< 1 or -1
  const float* zero;
  const float* first;
  const float* shift;
};

/// A NaN has code 0. Types without f64.
void normal_bins_encode(ElementType type, const NormalBins& bins, const void* x, uint8_t* codes,
                        const Range& range);

/// The middles of bins, but at least half a width from zero; within the type's range.
void normal_bins_decode(ElementType type, const NormalBins& bins, const uint8_t* codes, void* x,
                        const Range& range);

}  // namespace fewbit::kernels
