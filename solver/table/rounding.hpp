#pragma once

#include "table/table.hpp"

namespace fewbit::solver {

/// The largest value of `dtype` that is not above t: for x of that type "x > t" keeps its meaning.
/// Values below the type's range give -infinity.
double round_down(double t, DataType dtype);

/// Thresholds rounded for `dtype`; intervals that hold no value of the type vanish, and levels that
/// no code names any more vanish with them. `error` and the proof fields are left as they were.
Table round_thresholds(const Table& table, DataType dtype);

}  // namespace fewbit::solver
