#pragma once

#include "fewbit/table.hpp"
#include "kernels/floating_point_mode.hpp"
#include "search/search_table.hpp"
#include "table/table.hpp"

namespace fewbit {

/// Around calls of the solver while it lives.
using SolverArithmetic = kernels::DefaultFloatingPoint;

/// search_table, the same in every floating-point mode of the thread, which the solver's
/// arithmetic, bounds and decimals above all, takes for the usual one.
solver::Table search_now(const solver::Problem& problem, const solver::SearchOptions& options);

/// A solver's table as the runtime stores it: thresholds and levels in float32.
Table table_of(const solver::Table& solved);

/// The function with these parameter values in declared order, or its defaults where none is given.
solver::FunctionSpec function_spec(const std::string& function,
                                   const std::vector<double>& parameters);

}  // namespace fewbit
