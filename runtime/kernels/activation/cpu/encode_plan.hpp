#pragma once

#include <algorithm>
#include <limits>

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cpu/grid.hpp"
#include "kernels/activation/cpu/stages.hpp"

namespace fewbit::kernels {

struct EncodePlan {
  /// Up to this many thresholds are compared one by one.
  static constexpr int kSummed = 48;
  /// One-bit codes of up to this many thresholds need no preparation.
  static constexpr int kFew = 4;
  /// Thresholds that bisection can tell apart, and one.
  static constexpr int kPadded = 1024;

  bool even = false;
  int threshold_count = 0;
  const float* thresholds = nullptr;
  const uint8_t* codes = nullptr;
  int nan_change = 0;  ///< of the code, where x is NaN
  const double* wide_thresholds = nullptr;

  int level_count = 0;  ///< for the unbiased form
  const float* levels = nullptr;
  PhiloxState random = {};
  ValueKernel<float>* slope = nullptr;
  float parameters[8] = {};

  alignas(64) float padded[kPadded];
  ThresholdGrid grid;

  explicit EncodePlan(const StepView& steps)
      : even(steps.even),
        threshold_count(steps.threshold_count),
        thresholds(steps.thresholds),
        codes(steps.codes),
        nan_change(steps.nan_change()),
        wide_thresholds(steps.wide_thresholds),
        level_count(steps.level_count),
        levels(steps.levels) {}

  /// Makes what comparing floats with many thresholds needs.
  void prepare(const StepView& steps) {
    if (threshold_count <= kSummed) {
      // In a cell of a grid a NaN is like any number.
      if (nan_change == 0) grid = ThresholdGrid(steps);
      return;
    }
    std::copy_n(thresholds, threshold_count, padded);
    std::fill(padded + threshold_count, padded + kPadded, std::numeric_limits<float>::infinity());
  }
};

}  // namespace fewbit::kernels
