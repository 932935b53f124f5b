#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/element_type.hpp"
#include "kernels/philox.hpp"
#include "kernels/stream/code_stream.hpp"

/// Uniform quantisation in groups, after ActNN (Chen et al., ActNN: Reducing Training Memory
/// Footprint via 2-Bit Activation Compressed Training, ICML 2021). Elements are taken in groups of
/// `group` consecutive ones, the last may be short. Of each group two constants are stored, and of
/// each element a code q of b bits:
///
///   t = (x - minimum) / step,  step = range / (2^b - 1)     0 <= t <= 2^b - 1
///   q = floor(t + u)
///   x' = minimum + (q + d) * step                           clamped to the type's finite numbers
///
/// nearest: u = 1/2, d = 0. stochastic: u uniform in [0, 1), d = 0; the mean of x' is x, its
/// variance f (1 - f) step^2 where f is t's fractional part. dithered: the same u, and d = 1/2 - u
/// made again from the same random state; the mean of x' is x, its variance step^2 / 12 whatever x
/// is, half of what stochastic rounding has on average. No code is ever clamped for it: t + u is
/// below 2^b, so that the range needs no margin; x' lies at most half a step outside.
///
/// squares: levels lie at the squares of equal steps, dense where a group is least, for elements of
/// one sign of which few are large, as probabilities are. With n = 2^b - 1 and w = t n, k the whole
/// part of sqrt(w):
///   q = floor(k + (w - k^2) / (2 k + 1) + u)                u uniform in [0, 1)
///   x' = minimum + q^2 step / n                             the mean of x' is x
///
/// The constants are rounded before anything is measured by them, the minimum down and the range
/// up, so that every element lies in the range: all of the above is about what is stored. They are
/// the minimum and *half* the range, for the range of finite numbers may not be one: bf16 each, two
/// doubles for fp64. bf16's largest number is 0x1.FEp127; floats beyond count as it.
///
/// Exact: groups of one value that bf16 has (others are within bf16's rounding of it). A group far
/// from zero for its range is coded as coarsely as bf16 can place its minimum. A group with NaN or
/// an infinity comes back as NaN, all of it and no other. t is computed in the type's own precision
/// (floats for 16-bit types), within 2^-22 of the range; t and u are whole numbers of 2^-23. Means
/// are exact to that and to the rounding of x' to its type, where the type's largest number is not
/// in the way.
///
/// u of element i is drawn from the upper 23 bits of its word (see PhiloxState). Codes, constants
/// and values are the same, bit for bit, for all instruction sets, ranges and floating-point modes
/// of the thread.
namespace fewbit::kernels {

enum class Rounding : uint8_t { nearest, stochastic, dithered, squares };

/// Whether random numbers are read.
constexpr bool encoding_draws(Rounding rounding) {
  return rounding != Rounding::nearest;
}
constexpr bool decoding_draws(Rounding rounding) {
  return rounding == Rounding::dithered;
}

struct GroupFormat {
  ElementType type;
  int bits;       ///< 1 to 8
  int64_t group;  ///< elements, a power of two, kMinGroup to kMaxGroup
  Rounding rounding;
  PhiloxState random = {};
};

inline constexpr int64_t kMinGroup = 64;
inline constexpr int64_t kMaxGroup = 1024;

constexpr int64_t group_count(int64_t count, int64_t group) {
  return count / group + (count % group != 0);
}

/// Bytes of the two constants of a group.
constexpr int64_t constant_bytes(ElementType type) {
  return type == ElementType::f64 ? 16 : 4;
}

/// Ranges of an encoding begin at multiples of it.
constexpr int64_t encode_unit(int64_t group) {
  return std::max(kBlock, group);
}

/// Reads the elements of a range, writes their codes to a stream of code_bytes(count, bits) bytes
/// and the constants of their groups, [group_count(count, group)][2].
void group_encode(const GroupFormat& format, const void* x, uint8_t* codes, void* constants,
                  const Range& range);

/// Reads codes and constants, writes elements. A dithered group needs the state that it was encoded
/// with. Reads nothing else, whatever the stream and the constants hold.
void group_decode(const GroupFormat& format, const uint8_t* codes, const void* constants, void* x,
                  const Range& range);

}  // namespace fewbit::kernels
