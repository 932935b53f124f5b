#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/activation/step_view.hpp"
#include "kernels/philox.hpp"
#include "kernels/stream/cuda/host_device.hpp"

/// Codes of single elements.
namespace fewbit::kernels::cuda {

/// Any table that the operations accept, for elements that are compared as Real.
template <class Real>
struct BisectionTable {
  static constexpr int kPadded = kMaxThresholds + 1;

  Real threshold[kPadded];  ///< infinite beyond the table's
  uint8_t code[kPadded];
  uint32_t nan_code;
  uint32_t half;  ///< of the power of two that the thresholds, and one, fit into
  bool even;
};

/// The code of the interval that x lies in.
template <class Real>
FEWBIT_HD inline uint32_t bisect_code(const BisectionTable<Real>& table, Real x) {
  if (std::isnan(x)) return table.nan_code;
  const Real compared = table.even ? std::fabs(x) : x;
  uint32_t passed = 0;
  for (uint32_t step = table.half; step > 0; step /= 2) {
    if (compared > table.threshold[passed + step - 1]) passed += step;
  }
  return table.code[passed];
}

/// The levels of an unbiased table.
struct RoundingTable {
  int count;
  float level[256];
};

/// One of the codes whose levels enclose the slope, the upper one where a uniform number, scaled to
/// the distance of the two, is below what the slope exceeds the lower one by.
FEWBIT_HD inline uint32_t rounded_code(const RoundingTable& table, float slope, float uniform) {
  uint32_t lower = 0;
  for (int i = 1; i + 1 < table.count; ++i) lower += slope >= table.level[i] ? 1u : 0u;
  const uint32_t upper = table.count > 1 ? 1u : 0u;
  const float low = table.level[lower];
  const float high = table.level[lower + upper];
  return uniform * (high - low) < slope - low ? lower + upper : lower;
}

}  // namespace fewbit::kernels::cuda
