#include "kernels/cuda/arguments.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/cpu/half_plan.hpp"

namespace fewbit::kernels::cuda {

namespace {

/// The bits of the largest value of a 16-bit type that is not above t.
uint32_t half_not_above(ElementType type, float t) {
  const int found = ordinal_not_above(type, t);
  return static_cast<uint32_t>(found < 0 ? 0x8000 - found : found);
}

}  // namespace

bool is_summed(const StepView& steps, ElementType type) {
  return type != ElementType::f64 && steps.threshold_count <= StepSum::kMaxSteps &&
         steps.bits <= StepSum::kMaxBits;
}

StepSum step_sum(const StepView& steps, ElementType type) {
  const bool is_half = element_bytes(type) == 2;
  const uint32_t places = is_half ? 0x10001u : 1u;
  StepSum sum{};
  sum.bits = steps.bits;
  sum.count = steps.threshold_count;
  sum.even = steps.even;
  sum.first = steps.codes[0] * (places | places << 2 * steps.bits);
  for (int i = 0; i < sum.count; ++i) {
    const float threshold = steps.thresholds[i];
    const uint32_t change = (uint32_t{steps.codes[i]} ^ steps.codes[i + 1]) * places;
    const uint32_t pair = is_half ? half_not_above(type, threshold) * 0x10001u : 0u;
    sum.step[i] = {threshold, pair, {change, change << 2 * steps.bits}};
  }
  return sum;
}

BisectionTable bisection_table(const StepView& steps) {
  BisectionTable table{};
  std::fill_n(table.threshold, BisectionTable::kPadded, std::numeric_limits<float>::infinity());
  std::copy_n(steps.thresholds, steps.threshold_count, table.threshold);
  std::copy_n(steps.codes, steps.threshold_count + 1, table.code);
  table.half = std::bit_ceil(static_cast<uint32_t>(steps.threshold_count) + 1) / 2;
  table.even = steps.even;
  return table;
}

RoundingTable rounding_table(const StepView& steps) {
  RoundingTable table{};
  table.count = steps.level_count;
  std::copy_n(steps.levels, steps.level_count, table.level);
  return table;
}

Levels levels_of(const StepView& steps) {
  Levels levels{};
  std::copy_n(steps.levels, steps.level_count, levels.level);
  return levels;
}

}  // namespace fewbit::kernels::cuda
