#pragma once

#include <vector>

#include "report/document.hpp"
#include "report/study.hpp"

namespace fewbit::solver {
inline namespace reporting {

/// Squared error by bits (digest), every table with error, smoothed bias and gap, charts of error
/// against bits and of gaps, and a picture of each table.
std::vector<Section> error_sections(const std::vector<Result>& results);

}  // namespace reporting
}  // namespace fewbit::solver
