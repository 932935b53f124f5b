#pragma once

#include "kernels/cpu/encode_plan.hpp"
#include "kernels/cpu/lines.hpp"
#include "kernels/cpu/logistic.hpp"
#include "kernels/cpu/segments.hpp"

namespace fewbit::kernels {

/// What a pass over floats works by: one of the fits, and what finds codes, unless there is none to
/// find in the same loop.
struct FloatPlan {
  const Lines* lines = nullptr;
  const Logistic* logistic = nullptr;
  const SegmentTable* segments = nullptr;
  const EncodePlan* codes = nullptr;
  int bits = 0;
  int flip_count = 0;  ///< of one-bit codes: thresholds at which the code changes
  float flips[2] = {};

  bool is_fitted() const { return lines || logistic || segments; }

  /// Takes the codes along, unless they have too many thresholds.
  void take_codes(const EncodePlan& plan, int code_bits) {
    if (code_bits > 1 ? plan.grid.per_cell != 1 : !take_flips(plan)) return;
    codes = &plan;
    bits = code_bits;
  }

 private:
  bool take_flips(const EncodePlan& plan) {
    for (int t = 0; t < plan.threshold_count; ++t) {
      if (plan.codes[t] == plan.codes[t + 1]) continue;
      if (flip_count == 2) {
        flip_count = 0;
        return false;
      }
      flips[flip_count++] = plan.thresholds[t];
    }
    return flip_count > 0;
  }
};

}  // namespace fewbit::kernels
