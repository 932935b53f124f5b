#pragma once

#include <string>

#include "table/table.hpp"

namespace fewbit::solver {
inline namespace reporting {

/// The table as a person reads it: problem, intervals with codes and levels, error with its proof,
/// smoothed bias, and a small plot. Many intervals are abbreviated.
std::string describe(const Table& table, bool colour);

/// sqrt(error / mass of the weight in the domain): the typical size of q - f'.
double rms_error(const Table& table);

}  // namespace reporting
}  // namespace fewbit::solver
