#pragma once

#include <vector>

#include "report/document.hpp"
#include "report/study.hpp"

namespace fewbit::solver {

/// Squared error and smoothed bias by bits (digests, each with a chart for every function that is
/// not exact), gaps, every table with its picture, levels and thresholds, and the functions. The
/// order is that of the results.
std::vector<Section> error_sections(const std::vector<Result>& results);

}  // namespace fewbit::solver
