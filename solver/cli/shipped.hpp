#pragma once

#include <string>
#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {

/// All problems whose tables are shipped: those of the quantisers, then function by function in the
/// registry's order. A function whose derivative is a step function has its one exact table.
std::vector<Problem> shipped_problems();

/// "gelu/levels_uniform_b3.json": the table's place below tables/.
std::string shipped_path(const Table& table);

}  // namespace fewbit::solver
