#include "kernels/cuda/arguments.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/cpu/half_plan.hpp"

namespace fewbit::kernels::cuda {

namespace {

/// The place of the largest value of a type that is not above t, among the values of the type.
int ordinal_not_above(ElementType type, float t, bool is_half) {
  return is_half ? kernels::ordinal_not_above(type, t) : place_of(t);
}

uint32_t half_of(int ordinal) {
  return static_cast<uint32_t>(ordinal < 0 ? 0x8000 - ordinal : ordinal);
}

/// A step of a table before it is placed: at the values above `ordinal` the code changes.
struct Change {
  float threshold;
  int ordinal;
  uint32_t bits;
  Passing passing;
  bool is_merged;  ///< into its mirror image
};

/// Merges pairs: x > -t', or -x < t', for x < 0 is |x| <= t where no value lies between t and t'.
void merge_mirrored(Change* begin, Change* end) {
  for (Change* low = begin; low != end && low->ordinal < 0; ++low) {
    Change* const high = std::find_if(low, end, [&](const Change& other) {
      return other.ordinal == -low->ordinal - 1 && other.bits == low->bits &&
             other.passing == Passing::above;
    });
    if (high == end) continue;
    high->passing = Passing::magnitude_within;
    low->is_merged = true;
  }
}

}  // namespace

bool is_summed(const StepView& steps, ElementType type) {
  return type != ElementType::f64 && steps.threshold_count <= StepSum::kMaxSteps &&
         steps.bits <= StepSum::kMaxBits;
}

StepSum step_sum(const StepView& steps, ElementType type) {
  const bool is_half = element_bytes(type) == 2;
  Change changes[StepSum::kMaxSteps];
  Change* const end = changes + steps.threshold_count;
  for (int i = 0; i < steps.threshold_count; ++i) {
    const float t = steps.thresholds[i];
    const auto bits = static_cast<uint32_t>(steps.codes[i] ^ steps.codes[i + 1]);
    changes[i] = {t, ordinal_not_above(type, t, is_half), bits, Passing::above, false};
  }
  if (!steps.even) merge_mirrored(changes, end);
  const uint32_t places = is_half ? 0x10001u : 1u;
  StepSum sum{};
  sum.bits = steps.bits;
  sum.even = steps.even;
  sum.first = steps.codes[0] * (places | places << 2 * steps.bits);
  for (const Passing passing : {Passing::above, Passing::magnitude_within}) {
    for (const Change* change = changes; change != end; ++change) {
      if (change->passing != passing || change->is_merged) continue;
      const uint32_t bits = change->bits * places;
      const uint32_t pair = is_half ? half_of(change->ordinal) * 0x10001u : 0u;
      sum.step[sum.end++] = {change->threshold, pair, {bits, bits << 2 * steps.bits}};
    }
    if (passing == Passing::above) sum.count = sum.end;
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
