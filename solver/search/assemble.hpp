#pragma once

#include <vector>

#include "search/setting.hpp"
#include "table/table.hpp"

namespace fewbit::solver {

/// Thresholds, codes and levels on the setting's axis (|x| where it is folded).
struct StepLayout {
  std::vector<double> thresholds;
  std::vector<int> codes;
  std::vector<double> levels;
};

/// One interval per segment between `cuts` (ascending x), each with its weighted mean.
StepLayout layout_of_intervals(const Setting& setting, const std::vector<double>& cuts);

/// Every x takes the level of the segment of values that holds f'(x); `cuts` ascend on the axis of
/// values.
StepLayout layout_of_values(const Setting& setting, const std::vector<double>& cuts);

/// Numbers levels in ascending order, drops unused ones and joins neighbours of equal levels.
StepLayout normalised(const StepLayout& raw);

/// Largest violation of the optimality conditions over the range of f': |f'(threshold) - midpoint|
/// except at jumps of f', and |level - weighted mean|.
double layout_residual(const Setting& setting, const StepLayout& layout);

/// Integral of w (f' - q)^2.
double layout_error(const Setting& setting, const StepLayout& layout);
/// What the integral is no more than, whatever rounding and quadrature did.
double layout_error_above(const Setting& setting, const StepLayout& layout);

/// The same for random rounding between neighbouring `levels`; the largest distance of an inner
/// level to the best place between its neighbours, over the range of f'.
double rounding_error(const Setting& setting, const std::vector<double>& levels);
double rounding_error_above(const Setting& setting, const std::vector<double>& levels);
double rounding_residual(const Setting& setting, const std::vector<double>& levels);

/// Least true error of form `unbiased` where `computed` was found: an error of f' enters it with
/// the distance of two levels, the range of f' at most.
double rounding_error_below(const Setting& setting, double computed);

}  // namespace fewbit::solver
