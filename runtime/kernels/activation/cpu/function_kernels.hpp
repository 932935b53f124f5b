#pragma once

#include "kernels/activation/cpu/fitted.hpp"
#include "kernels/activation/cpu/half_values.hpp"
#include "kernels/activation/cpu/values.hpp"

namespace fewbit::kernels {

struct FunctionKernels {
  ValueKernels isa[kIsaCount];
  DefaultFunction function;
  /// What is fitted to the default parameters, at the first call; thread-safe.
  const Fitted& (*fitted)();
  /// The values of bf16 or f16 for the default parameters, likewise.
  const HalfValues& (*halves)(ElementType type);
  /// Where a pass takes these from, likewise: found by the first kernel that asks.
  const HalfSource& (*half_source)(ElementType type, FindHalfSource* find);
};

}  // namespace fewbit::kernels
