#pragma once

#include <vector>

#include "expression/derivative.hpp"
#include "table/table.hpp"
#include "verify/units.hpp"

namespace fewbit::solver {

/// For each unit the mean of q - f' over its inputs, b = integral of (q - f')(x) N(x; mean,
/// spread^2), by direct quadrature; `f` must reach as far as the inputs do.
std::vector<double> unit_biases(const Table& table, const Derivative& f, const Units& units);

/// f' where the inputs of the units are. Throws Error where it does not exist there.
Derivative derivative_seen_by(const Units& units, const FunctionSpec& function);

struct SeenBias {
  double rms;   ///< root mean square of unit_biases(); f' is taken on the whole axis
  double size;  ///< the largest of the levels and of the values f' that the units see, times what
                ///< the rounding of places far from zero makes of it
};

/// Throws Error where f' does not reach as far as the inputs do.
SeenBias bias_seen_by_units(const Table& table);
double recompute_bias(const Table& table);

}  // namespace fewbit::solver
