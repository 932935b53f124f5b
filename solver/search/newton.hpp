#pragma once

#include <vector>

#include "search/axis.hpp"

namespace fewbit::solver {

/// Cuts that satisfy f'(cut) = mean of the two levels beside it (Few-Bit Backward, equation 5),
/// from cuts close to them: Newton with the tridiagonal Jacobian. Cuts at jumps stay. Empty
/// segments are dropped. Returns the start where Newton does not lead to a better residual, and
/// goes no further where f' is `enough` or less from the mean at all cuts.
std::vector<double> polish_means(const Axis& axis, const std::vector<double>& cuts,
                                 double enough = 0.0);

/// Levels whose expected squared rounding error is stationary, the first and the last fixed at the
/// ends of the axis; `cuts` are the inner levels.
std::vector<double> polish_rounding(const Axis& axis, const std::vector<double>& cuts);

/// The level between two fixed neighbours whose expected squared rounding error is least.
double best_level_between(const Axis& axis, double lower, double upper);

}  // namespace fewbit::solver
