#pragma once

#include "search/search_table.hpp"

namespace fewbit::solver {

/// Fills `table` with the optimum of the squared error for its problem: everything but
/// `relative_gap`, `smoothed_bias` and the rounding to a data type.
void solve_squared(Table& table, const SearchOptions& options);

}  // namespace fewbit::solver
