#pragma once

#include <optional>
#include <span>

#include "search/assemble.hpp"

namespace fewbit::solver {

/// A threshold rounded to 12 decimals.
double round_to_decimals(double threshold);

/// Thresholds and levels rounded to 12 decimals (levels: 12 below the unit of their range). Digits
/// behind these depend on the machine's mathematical library, and at an optimum they change the
/// error by their square, that is not at all. `keep_ends` leaves the first and last level alone.
/// Nothing where rounding would break the order or, for a `folded` axis, give a threshold at 0.
/// Thresholds at one of the ascending `jumps` of f' stay there: a double beside it is on one side.
std::optional<StepLayout> snap_to_decimals(const StepLayout& layout, bool keep_ends, bool folded,
                                           std::span<const double> jumps = {});

}  // namespace fewbit::solver
