#pragma once

#include <string>
#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {

/// One statement that was checked, with both figures where they differ.
struct Finding {
  std::string claim;  ///< "error", "lower_bound", "levels[3]", ...
  bool holds;
  std::string detail;
};

/// Re-proves a table without any code of the search: error by its own quadrature, optimality
/// conditions, the lower bound by its own branch and bound, smoothed bias.
std::vector<Finding> verify_table(const Table& table);

/// Reads and verifies; the first finding is about the text, byte by byte: "canonical", or how it
/// differs. It holds where white space alone differs, unless `canonical` insists. Throws Error for
/// an unreadable file.
std::vector<Finding> verify_file(const std::string& path, bool canonical = false);

}  // namespace fewbit::solver
