#pragma once

#include "kernels/cpu/encode_plan.hpp"
#include "kernels/cpu/logistic.hpp"
#include "kernels/cpu/segments.hpp"

namespace fewbit::kernels {

/// What a pass over floats works by: one of the fits, and what finds codes, unless there is none to
/// find in the same loop.
struct FloatPlan {
  const SegmentTable* segments = nullptr;
  const Logistic* logistic = nullptr;
  const EncodePlan* codes = nullptr;
  int bits = 0;

  bool is_fitted() const { return segments || logistic; }
};

}  // namespace fewbit::kernels
