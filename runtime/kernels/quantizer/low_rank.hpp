#pragma once

#include <bit>
#include <cstdint>

#include "kernels/element_type.hpp"
#include "kernels/host_device.hpp"

/// The part of a run that lies in a few directions of its channels: sum_j coefficient_j direction_j
/// for every place of the channels (a token, a pixel).
///
/// Everything is computed in float, in one order on every device, and every multiplication is fused
/// with the addition of its product: a coefficient of adjacent channels is 16 sums, of the channels
/// c with equal c % 16, that are added at distance 8, 4, 2, 1; of others one sum over channels in
/// their order; one that is not finite is 0. The part is the sum over directions in their order.
namespace fewbit::kernels {

inline constexpr int kMostDirections = 16;

/// Sums that a coefficient of adjacent channels is made of.
inline constexpr int kDotSums = 16;

/// A basis is kept as e4m3 (4 bits of exponent, 3 behind the point) of so many times its elements,
/// which are 1 at most: that type goes to 448, and is as exact down to a 16,384th of 256.
inline constexpr float kBasisScale = 256.0f;

/// What is kept so, unless it is a NaN.
FEWBIT_HD inline float basis_value(uint8_t kept) {
  const uint32_t size = kept & 0x7Fu;
  const float value = size < 8 ? static_cast<float>(size) * 0x1p-17f
                               : std::bit_cast<float>((size << 20) + (uint32_t{112} << 23));
  return kept < 0x80 ? value : -value;
}

/// Where channels lie: the elements of a run are [outer, channels, inner].
struct ChannelPlace {
  int64_t channels, inner;

  constexpr int64_t block() const { return channels * inner; }
};

struct Directions {
  ChannelPlace place;
  int count;           ///< at most kMostDirections
  int64_t stride;      ///< of the basis: channels rounded up to a multiple of kDotSums
  const float* basis;  ///< [count, stride], zeros behind the channels
};

/// What is coded apart, in the memory of the device.
struct LowRank {
  Directions directions;
  const float* coefficients;  ///< [outer, count, inner]
  int64_t first = 0;          ///< of the coefficients' elements, that the run begins with
};

/// Of rows [begin, end) of [outer * pieces]: a row is the coefficients of one block, of up to 16
/// places. type: not f64. coefficients: [outer, count, inner].
void low_rank_project(ElementType type, const void* x, const Directions& directions,
                      float* coefficients, int64_t begin, int64_t end);

/// Rows of a block.
constexpr int64_t project_pieces(int64_t inner) {
  return inner == 1 ? 1 : (inner + kDotSums - 1) / kDotSums;
}

}  // namespace fewbit::kernels
