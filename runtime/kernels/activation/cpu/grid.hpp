#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/activation/step_view.hpp"

namespace fewbit::kernels {

/// Thresholds sorted into 32 cells of equal width, so that an element is compared only with those
/// of its own cell: a cell's number is found by the same monotone arithmetic for elements and
/// thresholds, so the thresholds of lower cells lie below x and those of higher cells do not.
struct ThresholdGrid {
  static constexpr int kCells = 32;
  static constexpr int kMaxPerCell = 3;
  static constexpr float kMagic = 0x1.8p+23f;

  int per_cell = 0;  ///< most thresholds in one cell; 0: the grid does not serve
  float scale = 0.0f;
  float shift = 0.0f;
  float low = 0.0f;  ///< x is clamped to the middles of the first and the last cell
  float high = 0.0f;
  alignas(64) float threshold[kMaxPerCell][kCells];
  /// Byte j: the code after the cell's first j thresholds.
  alignas(64) uint32_t codes[kCells];

  ThresholdGrid() = default;

  /// Tries a few widths and keeps the one with the fewest comparisons.
  explicit ThresholdGrid(const StepView& steps) {
    const int count = steps.threshold_count;
    if (count == 0) return;
    const float first = steps.thresholds[0];
    const float last = steps.thresholds[count - 1];
    if (!(std::fabs(first) < 1e30f && std::fabs(last) < 1e30f)) return;
    const float middle = 0.5f * (first + last);
    const float span = std::fmax(last - first, 1e-3f);
    int best = kMaxPerCell + 1;
    for (const float zoom : {1.0f, 1.5f, 2.0f, 3.0f}) {
      if (!place(middle, 30.0f * zoom / span)) continue;
      const int most = most_in_a_cell(steps);
      if (most >= best) continue;
      best = most;
      per_cell = most;
      chosen_ = {scale, shift, low, high};
    }
    if (per_cell == 0) return;
    scale = chosen_[0];
    shift = chosen_[1];
    low = chosen_[2];
    high = chosen_[3];
    fill(steps);
  }

  int cell(float x) const {
    const float clamped = x > low ? (x < high ? x : high) : low;
    const float moved = std::fma(clamped, scale, shift);
    return static_cast<int>(std::bit_cast<uint32_t>(moved) & (kCells - 1));
  }

 private:
  /// Whether the cells between the clamps are numbered 0 to 31: far from zero a float cannot tell
  /// narrow cells apart.
  bool place(float middle, float per_unit) {
    scale = per_unit;
    const float offset = std::nearbyint(15.5f - middle * per_unit);
    shift = kMagic + offset;
    low = (0.0f - offset) / per_unit;
    high = (31.0f - offset) / per_unit;
    return std::fabs(offset) < 0x1p+22f && cell(low) == 0 && cell(high) == kCells - 1;
  }

  int most_in_a_cell(const StepView& steps) const {
    std::array<int, kCells> count{};
    int most = 0;
    for (int i = 0; i < steps.threshold_count; ++i) {
      most = std::max(most, ++count[static_cast<size_t>(cell(steps.thresholds[i]))]);
    }
    return most;
  }

  void fill(const StepView& steps) {
    int passed = 0;
    for (int c = 0; c < kCells; ++c) {
      codes[c] = steps.codes[passed];
      for (int j = 0; j < kMaxPerCell; ++j) {
        const bool is_here = passed < steps.threshold_count && cell(steps.thresholds[passed]) == c;
        threshold[j][c] = is_here ? steps.thresholds[passed++] : INFINITY;
        codes[c] |= uint32_t{steps.codes[passed]} << 8 * (j + 1);
      }
    }
  }

  std::array<float, 4> chosen_{};
};

}  // namespace fewbit::kernels
