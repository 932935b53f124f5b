#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/activation/step_view.hpp"
#include "kernels/half.hpp"

namespace fewbit::kernels {

/// Elements of 16 bits that are worked on together.
inline constexpr int64_t kHalves = 32;

/// The values of a 16-bit type in order, as integers: both zeros are 0, infinity is the last.
inline int ordinal(uint16_t half) {
  const int magnitude = half & 0x7FFF;
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

/// The largest value of the type that is not above t: x > t exactly where ordinal(x) > it.
inline int ordinal_not_above(ElementType type, float t) {
  const uint16_t nearest = half_from_float(type, t);
  return ordinal(nearest) - (place_of(float_from_half(type, nearest)) > place_of(t) ? 1 : 0);
}

/// A place where the code changes, going from zero outwards on one side: `magnitude` is the first
/// bit pattern (without sign) that has the code beyond.
struct OutwardStep {
  int magnitude;
  uint8_t code;
};

/// The steps of a table sorted into 2 x 32 cells of equal width in bit patterns beyond `base`, so
/// that an element is compared only with those of its own cell. Sides: those without a sign, of an
/// even table all, and those with one. Beyond infinity are NaNs, which have the code of the lowest
/// interval: that of the last cell with a sign, and the step of the last one without.
struct HalfGrid {
  static constexpr int kCells = 32;
  static constexpr int kMaxPerCell = 3;

  int per_cell = 0;    ///< most steps in one cell; 0: the grid does not serve
  int code_shift = 0;  ///< a cell's codes lie this many bits apart, the first one lowest
  int shift = 0;
  int base = 0;
  /// Passed where the element's bits, as a signed number, are above it.
  alignas(64) int16_t threshold[kMaxPerCell][2 * kCells];
  alignas(64) uint16_t codes[2 * kCells];

  int cell(int magnitude) const {
    return std::min(std::max(magnitude - base, 0) >> shift, kCells - 1);
  }
};

/// What finding the codes of 16-bit elements needs, prepared once per pass: integers compare as the
/// values they stand for.
class HalfPlan {
 public:
  static constexpr int kMaxThresholds = 48;

  int bits = 0;  ///< of a code
  bool even = false;
  int16_t infinity = 0;  ///< its bits
  int count = -1;        ///< of thresholds; negative: too many for this plan
  uint8_t first = 0;     ///< the code below all thresholds
  int16_t threshold[kMaxThresholds];
  int16_t change[kMaxThresholds];  ///< of the code, where a threshold is passed
  int16_t nan_change = 0;          ///< and where x is NaN
  bool nans_are_highest = false;   ///< rather than lowest: they have the code above all thresholds
  HalfGrid grid;

  HalfPlan() = default;

  HalfPlan(const StepView& steps, ElementType type)
      : bits(steps.bits), even(steps.even), infinity(type == ElementType::bf16 ? 0x7F80 : 0x7C00) {
    if (steps.threshold_count > kMaxThresholds || steps.threshold_count == 0) return;
    count = steps.threshold_count;
    first = steps.codes[0];
    nans_are_highest = steps.nan_change() != 0 && steps.nan_code == steps.codes[count];
    nan_change = static_cast<int16_t>(nans_are_highest ? 0 : steps.nan_change());
    std::array<int, kMaxThresholds> ordinals;
    for (int i = 0; i < count; ++i) {
      ordinals[static_cast<size_t>(i)] = ordinal_not_above(type, steps.thresholds[i]);
      threshold[i] = lane(ordinals[static_cast<size_t>(i)]);
      change[i] = static_cast<int16_t>(steps.codes[i + 1] - steps.codes[i]);
    }
    // In the grid a NaN is like the lowest number.
    if (steps.nan_change() == 0) set_grid(steps, ordinals.data());
  }

  /// What a lane adds after x ^ (x < 0 ? 0x7FFF : 0): positive NaNs wrap around to the lowest
  /// numbers, below minus infinity, where negative ones are already, or those to the highest.
  int16_t lane_offset() const {
    const int nans = 0x7FFF - infinity;
    return static_cast<int16_t>(nans_are_highest ? -nans : nans);
  }

 private:
  /// In that form -0 and every negative value lie one lower than their ordinals.
  int16_t lane(int ordinal) const {
    return static_cast<int16_t>((ordinal < 0 ? ordinal - 1 : ordinal) + lane_offset());
  }

  void set_grid(const StepView& steps, const int* ordinals) {
    std::array<OutwardStep, kMaxThresholds> outward[2];
    int counts[2] = {0, 0};
    const auto below_zero =
        static_cast<int>(std::lower_bound(ordinals, ordinals + count, 0) - ordinals);
    for (int i = below_zero; i < count; ++i) {
      outward[0][static_cast<size_t>(counts[0]++)] = {ordinals[i] + 1, steps.codes[i + 1]};
    }
    for (int i = below_zero - 1; i >= 0 && !even; --i) {
      outward[1][static_cast<size_t>(counts[1]++)] = {-ordinals[i], steps.codes[i]};
    }
    grid.code_shift = steps.bits <= 4 ? 4 : 8;
    if (!choose_cells(outward, counts)) return;
    fill_side(0, steps.codes[below_zero], outward[0].data(), counts[0]);
    fill_side(1, steps.codes[below_zero], outward[1].data(), counts[1]);
    add_nans(steps.codes[0]);
  }

  /// Tries a few places to begin at: a step next to zero should not cost all others their width.
  bool choose_cells(const std::array<OutwardStep, kMaxThresholds>* outward, const int* counts) {
    int last = 0;
    for (int side = 0; side < 2; ++side) {
      if (counts[side] > 0) {
        last = std::max(last, outward[side][static_cast<size_t>(counts[side] - 1)].magnitude);
      }
    }
    const int most_served = grid.code_shift == 4 ? HalfGrid::kMaxPerCell : 1;
    int best_base = 0;
    int best_shift = 0;
    int best = most_served + 1;
    const auto try_base = [&](int base) {
      if (best == 1) return;  // there is none with fewer
      grid.base = std::max(base, 0);
      grid.shift = 0;
      while ((last - grid.base) >> grid.shift >= HalfGrid::kCells - 1) ++grid.shift;
      const int most = std::max(most_in_a_cell(outward[0].data(), counts[0]),
                                most_in_a_cell(outward[1].data(), counts[1]));
      const bool has_room = grid.cell(infinity + 1) == HalfGrid::kCells - 1;
      if (most >= best || !has_room) return;
      best = most;
      best_base = grid.base;
      best_shift = grid.shift;
    };
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < std::min(counts[side], 4); ++i) {
        const int magnitude = outward[side][static_cast<size_t>(i)].magnitude;
        try_base(magnitude);
        for (int again = 0; again < 2; ++again) {
          try_base(magnitude - (1 << grid.shift));  // the step in the second cell, as wide as last
        }
      }
    }
    grid.base = best_base;
    grid.shift = best_shift;
    grid.per_cell = best <= most_served && counts[0] + counts[1] > 0 ? best : 0;
    return grid.per_cell > 0;
  }

  int most_in_a_cell(const OutwardStep* steps, int step_count) const {
    std::array<int, HalfGrid::kCells> counts{};
    int most = 0;
    for (int i = 0; i < step_count; ++i) {
      most = std::max(most, ++counts[static_cast<size_t>(grid.cell(steps[i].magnitude))]);
    }
    return most;
  }

  void fill_side(int side, uint8_t code, const OutwardStep* steps, int step_count) {
    const int zero = side == 0 ? 0 : -0x8000;
    int next = 0;
    for (int c = 0; c < HalfGrid::kCells; ++c) {
      const int at = side * HalfGrid::kCells + c;
      unsigned codes = code;
      for (int j = 0; j < HalfGrid::kMaxPerCell; ++j) {
        const bool is_here = next < step_count && grid.cell(steps[next].magnitude) == c;
        grid.threshold[j][at] =
            static_cast<int16_t>(is_here ? zero + steps[next].magnitude - 1 : 0x7FFF);
        if (is_here) code = steps[next++].code;
        codes |= static_cast<unsigned>(code) << (j + 1) * grid.code_shift;
      }
      grid.codes[at] = static_cast<uint16_t>(codes);
    }
  }

  /// In the last cell without a sign, which is left to them and to what is near them.
  void add_nans(uint8_t code) {
    constexpr int kLast = HalfGrid::kCells - 1;
    for (int j = 1; j <= HalfGrid::kMaxPerCell; ++j) {
      const int shift = j * grid.code_shift;
      if (shift >= 16) break;
      const unsigned others = grid.codes[kLast] & ~(((1u << grid.code_shift) - 1) << shift);
      grid.codes[kLast] = static_cast<uint16_t>(others | static_cast<unsigned>(code) << shift);
    }
    grid.threshold[0][kLast] = infinity;
  }
};

}  // namespace fewbit::kernels
