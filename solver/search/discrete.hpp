#pragma once

#include "table/table.hpp"

namespace fewbit::solver {

/// Fills `table` with the optimum for a weight of single values (WeightSpec::is_discrete): exact,
/// by dynamic programming over the values. Everything but `relative_gap`, `smoothed_bias` and the
/// rounding to a data type.
void solve_discrete(Table& table);

/// The sum of mass (f' - q)^2 over the values, for Form::unbiased of its expectation, with what
/// rounding of f' may have hidden.
double discrete_error(const Table& table);

/// The largest distance of a level from the mean of f' over its values, and by how much any value
/// is farther from its own level than from the nearest one (not for Form::intervals); over the
/// range of f'. 0 for Form::unbiased.
double discrete_residual(const Table& table);

}  // namespace fewbit::solver
