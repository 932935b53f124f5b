#pragma once

#include <vector>

#include "report/document.hpp"
#include "report/labels.hpp"
#include "report/result_index.hpp"
#include "report/study.hpp"

namespace fewbit::solver {

// The parts of error_sections.

/// Squared error by bits: a digest, and a chart for each function.
Section error_section(const ResultIndex& index);
/// The same of the smoothed bias.
Section bias_section(const ResultIndex& index);
/// The relative gaps as dots.
Section gap_section(const ResultIndex& index);
/// Every table: a row, a picture, and its levels and thresholds.
Section table_section(const std::vector<Result>& results, const Labels& labels);
/// f(x) of every function.
Section function_section(const std::vector<Result>& results, const Labels& labels);

}  // namespace fewbit::solver
