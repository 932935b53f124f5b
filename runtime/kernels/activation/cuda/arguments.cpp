#include "kernels/activation/cuda/arguments.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/activation/cpu/half_plan.hpp"

namespace fewbit::kernels::cuda {

namespace {

/// The place of the largest value of a type that is not above t, among the values of the type.
int place_not_above(ElementType type, float t) {
  return element_bytes(type) == 2 ? kernels::ordinal_not_above(type, t) : place_of(t);
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

/// Lets steps count that they are not passed until a NaN, which starts at the first code, keeps its
/// own: changes the first code by what those steps change it. One that every number counts for
/// gives the rest. The new end.
Change* turn_for_nan(const StepView& steps, ElementType type, Change* begin, Change* end,
                     uint32_t& first) {
  const auto within = steps.even ? Passing::magnitude_within : Passing::within;
  uint32_t rest = first ^ static_cast<uint32_t>(steps.nan_code);
  for (Change* change = begin; change != end && rest != 0; ++change) {
    if (change->bits != rest) continue;
    change->passing = within;
    first ^= rest;
    rest = 0;
  }
  if (rest == 0) return end;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  *end = {kInfinity, place_not_above(type, kInfinity), rest, within, false};
  first ^= rest;
  return end + 1;
}

/// Codes that the table does not have are zero levels too. Those of -0 become 0.
template <class Real>
bool clean_zeros(Real (&level)[256], int bits) {
  const bool has_zero = std::any_of(level, level + (1 << bits), [](Real of_code) {
    return of_code == Real{0} && !std::signbit(of_code);
  });
  for (Real& of_code : level) {
    if (of_code == Real{0}) of_code = Real{0};
  }
  return has_zero;
}

}  // namespace

Parameters parameters_of(const double* values, int count) {
  Parameters parameters{};
  std::copy_n(values, count, parameters.wide);
  std::transform(values, values + count, parameters.value,
                 [](double value) { return static_cast<float>(value); });
  return parameters;
}

bool is_summed(const StepView& steps, ElementType type) {
  const int most = steps.nan_change() == 0 ? StepSum::kMaxSteps : StepSum::kMaxSteps - 1;
  return type != ElementType::f64 && steps.threshold_count <= most &&
         steps.bits <= StepSum::kMaxBits;
}

StepSum step_sum(const StepView& steps, ElementType type) {
  const bool is_half = element_bytes(type) == 2;
  Change changes[StepSum::kMaxSteps];
  Change* end = changes + steps.threshold_count;
  for (int i = 0; i < steps.threshold_count; ++i) {
    const float t = steps.thresholds[i];
    const auto bits = static_cast<uint32_t>(steps.codes[i] ^ steps.codes[i + 1]);
    changes[i] = {t, place_not_above(type, t), bits, Passing::above, false};
  }
  uint32_t first = steps.codes[0];
  if (steps.nan_change() != 0) {
    end = turn_for_nan(steps, type, changes, end, first);
  } else if (!steps.even) {
    merge_mirrored(changes, end);
  }
  const uint32_t places = is_half ? 0x10001u : 1u;
  StepSum sum{};
  sum.bits = steps.bits;
  sum.even = steps.even;
  sum.first = first * (places | places << 2 * steps.bits);
  for (const Passing passing : {Passing::above, Passing::magnitude_within, Passing::within}) {
    for (const Change* change = changes; change != end; ++change) {
      if (change->passing != passing || change->is_merged) continue;
      const uint32_t bits = change->bits * places;
      const uint32_t pair = is_half ? half_of(change->ordinal) * 0x10001u : 0u;
      sum.step[sum.all++] = {change->threshold, pair, {bits, bits << 2 * steps.bits}};
    }
    if (passing == Passing::above) sum.count = sum.all;
    if (passing == Passing::magnitude_within) sum.end = sum.all;
  }
  return sum;
}

template <class Real>
BisectionTable<Real> bisection_table(const StepView& steps) {
  BisectionTable<Real> table{};
  std::fill_n(table.threshold, table.kPadded, std::numeric_limits<Real>::infinity());
  if (sizeof(Real) == sizeof(double) && steps.wide_thresholds != nullptr) {
    std::copy_n(steps.wide_thresholds, steps.threshold_count, table.threshold);
  } else {
    std::copy_n(steps.thresholds, steps.threshold_count, table.threshold);
  }
  std::copy_n(steps.codes, steps.threshold_count + 1, table.code);
  table.nan_code = static_cast<uint32_t>(steps.codes[0] + steps.nan_change());
  table.half = std::bit_ceil(static_cast<uint32_t>(steps.threshold_count) + 1) / 2;
  table.even = steps.even;
  return table;
}

template BisectionTable<float> bisection_table(const StepView& steps);
template BisectionTable<double> bisection_table(const StepView& steps);

RoundingTable rounding_table(const StepView& steps) {
  RoundingTable table{};
  table.count = steps.level_count;
  std::copy_n(steps.levels, steps.level_count, table.level);
  return table;
}

Levels levels_of(const StepView& steps) {
  Levels levels{};
  if (steps.levels != nullptr) std::copy_n(steps.levels, steps.level_count, levels.level);
  levels.has_zero = clean_zeros(levels.level, steps.bits);
  return levels;
}

WideLevels wide_levels_of(const StepView& steps) {
  WideLevels levels{};
  if (steps.wide_levels != nullptr) {
    std::copy_n(steps.wide_levels, steps.level_count, levels.level);
  } else {
    std::copy_n(steps.levels, steps.level_count, levels.level);
  }
  levels.has_zero = clean_zeros(levels.level, steps.bits);
  return levels;
}

}  // namespace fewbit::kernels::cuda
