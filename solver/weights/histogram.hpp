#pragma once

#include <string>
#include <vector>

namespace fewbit::solver {

/// The largest number of bins that a histogram may have.
inline constexpr size_t kMaxBins = size_t{1} << 16;

/// Throws Error (naming `file` where it is given) unless there is one finite mass >= 0 for each
/// pair of neighbouring edges, edges ascend within +-1e100 by at least 1e-100, and some mass is
/// positive.
void check_histogram(const std::vector<double>& edges, const std::vector<double>& masses,
                     const std::string& file = {});

/// Removes empty bins at both ends, joins neighbouring empty bins into one, and scales the masses
/// to sum 1. The density stays the same. Expects a checked histogram.
void tidy_histogram(std::vector<double>& edges, std::vector<double>& masses);

}  // namespace fewbit::solver
