#pragma once

#include "table/table.hpp"

namespace fewbit::solver {
inline namespace verification {

/// Root mean square of the error q - f' smoothed by each unit's own scatter, by direct quadrature;
/// f' is taken on the whole axis. Throws Error where f' does not reach as far as the inputs do.
double recompute_bias(const Table& table);

}  // namespace verification
}  // namespace fewbit::solver
