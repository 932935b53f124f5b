#pragma once

#include <vector>

#include "table/table.hpp"

namespace fewbit::test {

/// One value among samples: what f' is there, and the share of the samples that have it.
struct ValueShare {
  double x;
  long double slope;
  long double share;
};

/// The least error over `values` that any table of this form and size has: the plain dynamic
/// program, in which every run of values is summed up anew. `folds`: thresholds on |x| are tables
/// too.
long double exact_on_values(std::vector<ValueShare> values, solver::Form form, int levels,
                            bool folds);

/// The error of `table` over `values`.
long double error_on_values(const std::vector<ValueShare>& values, const solver::Table& table);

}  // namespace fewbit::test
