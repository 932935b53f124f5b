#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proven/on_samples.hpp"
#include "table/table.hpp"

namespace fewbit::solver {

/// The table as a person reads it: problem, intervals with codes and levels, error with its proof,
/// smoothed bias, and a small plot, no wider than `width` columns (at least 40). Many intervals are
/// abbreviated.
std::string describe(const Table& table, bool colour, int width = 80,
                     const std::optional<SampleError>& samples = {});

/// The sizes of one problem beside each other: a line for each table.
std::string compare(const std::vector<Table>& tables);

/// sqrt(error / mass of the weight in the domain): the typical size of q - f'.
double rms_error(const Table& table);

}  // namespace fewbit::solver
