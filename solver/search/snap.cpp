#include "search/snap.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

namespace fewbit::solver {

namespace {

constexpr int kDecimals = 12;

/// Decimals that make 12 digits behind the leading one of `unit`.
int decimals_for(double unit) {
  if (!(unit > 0.0)) return kDecimals;  // a single level
  return std::clamp(kDecimals - static_cast<int>(std::floor(std::log10(unit))), 0, 40);
}

double round_to(double value, int decimals) {
  char buffer[400];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr;
  double rounded = value;
  std::from_chars(buffer, end, rounded);
  return rounded == 0.0 ? 0.0 : rounded;  // no negative zero
}

bool ascends(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

}  // namespace

double round_to_decimals(double threshold) {
  return round_to(threshold, kDecimals);
}

std::optional<StepLayout> snap_to_decimals(const StepLayout& layout, bool keep_ends, bool folded,
                                           std::span<const double> jumps) {
  StepLayout snapped = layout;
  const int decimals = decimals_for(layout.levels.back() - layout.levels.front());
  for (size_t i = 0; i < snapped.levels.size(); ++i) {
    const bool end = i == 0 || i + 1 == snapped.levels.size();
    if (!(keep_ends && end)) snapped.levels[i] = round_to(snapped.levels[i], decimals);
  }
  for (double& threshold : snapped.thresholds) {
    if (!std::binary_search(jumps.begin(), jumps.end(), threshold)) {
      threshold = round_to_decimals(threshold);
    }
  }
  if (!ascends(snapped.levels) || !ascends(snapped.thresholds)) return std::nullopt;
  if (folded && !snapped.thresholds.empty() && snapped.thresholds.front() <= 0.0) {
    return std::nullopt;
  }
  return snapped;
}

}  // namespace fewbit::solver
