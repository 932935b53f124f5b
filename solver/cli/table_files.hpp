#pragma once

#include <string>
#include <vector>

#include "report/study.hpp"

namespace fewbit::solver {

/// Reads tables and proves each again with the code of `verify`, in parallel, with progress on
/// terminals. Throws Error for the first file that cannot be read or holds a statement that is not
/// true, naming both figures.
std::vector<Result> read_proven(const std::vector<std::string>& files);

}  // namespace fewbit::solver
