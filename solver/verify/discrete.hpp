#pragma once

#include "table/table.hpp"
#include "verify/findings.hpp"

namespace fewbit::solver {

/// Proves a table for a weight of single values (WeightSpec::is_discrete): symmetry, thresholds,
/// residual and error by sums over the values, the lower bound by a dynamic program over them. Adds
/// nothing about gap and smoothed bias. Returns what f' may be off by, as InputAxis::noise().
double check_discrete(const Table& table, Findings& findings);

}  // namespace fewbit::solver
