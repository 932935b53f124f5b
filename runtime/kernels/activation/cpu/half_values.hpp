#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/activation/cpu/fitted.hpp"
#include "kernels/activation/cpu/values.hpp"

namespace fewbit::kernels {

/// A function of default parameters on a 16-bit type has 65,536 values: y[x] is f(x) rounded once
/// from double.
struct HalfValues {
  static constexpr size_t kStored = 65536 + 1;  ///< a gather reads one more

  /// kStored; empty for a function of straight lines, whose loop needs none.
  std::vector<uint16_t> y;
};

/// Takes about a millisecond. `type` is bf16 or f16.
HalfValues tabulate_halves(ElementType type, ValueKernel<float>* slope,
                           const DefaultFunction& function);

/// Where a fit, computed in floats and rounded, gives the very values of the table: for all x of
/// which the bits are at most `last`, that is all without a sign and then from -0 down, but for a
/// few.
struct ExactHalves {
  static constexpr int kMaxExceptions = 8;
  static constexpr float kReach = -4.0f;  ///< from it up at least

  uint16_t last = 0;
  int exception_count = -1;  ///< negative: the fit does not serve
  uint16_t exception[kMaxExceptions] = {};

  bool serves() const { return exception_count >= 0; }
};

/// y[i] = fit(x[i]) by the arithmetic of a kernel; `count` is a multiple of kBlock.
using EvaluateFit = void(const Fitted& fit, const float* x, float* y, int64_t count);

/// Compares all 65,536 values. Nothing serves where there is no fit.
ExactHalves find_exact_halves(ElementType type, const HalfValues& table, const Fitted& fit,
                              EvaluateFit* evaluate);

/// How a pass comes by the values of a table. All ways give the same.
enum class HalfWay {
  single_loads,
  gathers,
  fit  ///< computing, where that is exact, and single loads
};

/// Where the values of a function that has a table come from.
struct HalfSource {
  const uint16_t* table = nullptr;
  const Fitted* fit = nullptr;
  ExactHalves exact;
  HalfWay fastest = HalfWay::single_loads;  ///< as measured on this processor
};

/// Finds the source that a kernel has.
using FindHalfSource = HalfSource(ElementType type, const HalfValues& table, const Fitted& fit);

/// For a test that wants one of the ways, where a kernel has it. Not to be set during a pass.
inline std::optional<HalfWay> half_way_for_test;

}  // namespace fewbit::kernels
