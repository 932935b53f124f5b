#pragma once

#include <string>
#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {
inline namespace verification {

/// One statement that was checked, with both figures where they differ.
struct Finding {
  std::string claim;  ///< "error", "lower_bound", "levels[3]", ...
  bool holds;
  std::string detail;
};

/// Re-proves a table without any code of the search: error by its own quadrature, optimality
/// conditions, the lower bound by its own branch and bound, smoothed bias.
std::vector<Finding> verify_table(const Table& table);

/// Reads, checks the canonical text byte by byte and verifies; throws Error for an unreadable file.
std::vector<Finding> verify_file(const std::string& path);

}  // namespace verification
}  // namespace fewbit::solver
