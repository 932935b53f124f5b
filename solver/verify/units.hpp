#pragma once

#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {

/// Spreads after which a normal density counts no more: it is below 1e-17 of its peak.
constexpr double kReach = 8.8;

using Units = std::vector<UnitSpec>;

/// How single units scatter, x ~ N(mean, spread^2), when all of them together have the density
/// `weight`; units of one spread stand together. Masses sum to 1.
Units units_of(const WeightSpec& weight, double tau);

/// Where the inputs of units [first, last) are.
Domain reach_of(Units::const_iterator first, Units::const_iterator last);

/// The end of the units that begin at `first` and have its spread.
Units::const_iterator end_of_spread(Units::const_iterator first, Units::const_iterator last);

}  // namespace fewbit::solver
