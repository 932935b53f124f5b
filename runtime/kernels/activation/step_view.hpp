#pragma once

#include <cstdint>

namespace fewbit::kernels {

/// Thresholds that a table may have: far more than 256 levels need.
inline constexpr int kMaxThresholds = 1023;

/// A few-bit derivative q(x) = levels[codes[i]], i the number of thresholds t with x > t, as the
/// kernels read it: a view, the arrays belong to the caller. The comparison has the meaning it has
/// for real numbers, in every type; fp64 compares in double. A level of zero passes nothing on: the
/// gradient is +0 whatever dy is. One of -0 is a factor like any other, +0.
struct StepView {
  int bits;                 ///< of one stored code, 1 to 8
  bool even;                ///< thresholds cut |x|
  int threshold_count;      ///< 0 for the unbiased form
  const float* thresholds;  ///< ascending; null for the unbiased form
  const uint8_t* codes;     ///< threshold_count + 1; null for the unbiased form
  int level_count;          ///< at most 2^bits
  const float* levels;      ///< ascending, finite

  /// Of a NaN, which is above no threshold; negative: that of the lowest interval.
  int nan_code = -1;
  /// What fp64 takes for thresholds and for levels; null: the floats, which may be null otherwise
  /// where nothing but fp64 is passed over.
  const double* wide_thresholds = nullptr;
  const double* wide_levels = nullptr;

  /// From the code of the lowest interval to a NaN's.
  int nan_change() const { return nan_code < 0 || codes == nullptr ? 0 : nan_code - codes[0]; }
};

}  // namespace fewbit::kernels
