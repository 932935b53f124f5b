#pragma once

#include "fewbit/table.hpp"
#include "table/table.hpp"

namespace fewbit {

/// A solver's table as the runtime keeps it: thresholds and levels in float32.
Table table_of(const solver::Table& solved);

/// The function with these parameter values in declared order, or its defaults where none is given.
solver::FunctionSpec function_spec(const std::string& function,
                                   const std::vector<double>& parameters);

}  // namespace fewbit
