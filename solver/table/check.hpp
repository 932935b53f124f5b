#pragma once

#include <string>

#include "table/table.hpp"

namespace fewbit::solver {

/// Throws Error (file, field) where the parts of a table do not fit together: counts, order,
/// ranges, numbers that are not finite, a proof that contradicts itself. Does not look at
/// mathematics.
void check_table(const Table& table, const std::string& file = {});

}  // namespace fewbit::solver
