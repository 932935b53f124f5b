#pragma once

#include "verify/axis.hpp"
#include "verify/findings.hpp"

namespace fewbit::solver {

/// What checking the conditions brought to light.
struct Measured {
  double error = 0.0;
  double residual = 0.0;  ///< as README.md defines it
  double rounding = 0.0;  ///< how much of it may be rounding
};

/// Forms intervals and levels, on the axis where the thresholds live. Levels are the means of their
/// sets, f' meets the midpoint of its neighbours at every threshold, codes of the levels form name
/// the nearest level everywhere. Without `optimal` (the smoothed objective) only what holds for any
/// table is looked at.
Measured check_intervals(const Table& table, const InputAxis& axis, bool optimal,
                         Findings& findings);

/// Smoothed objective: the nearest stationary point of F (see smoothed_expansion.hpp) is a minimum
/// and has the table's numbers, to the digits that are printed. Throws Error where f' does not
/// reach as far as the inputs do.
void check_smoothed(const Table& table, const InputAxis& axis, Findings& findings);

/// Form unbiased: outer levels are the range of f', inner ones are stationary.
Measured check_unbiased(const Table& table, const InputAxis& axis, Findings& findings);

}  // namespace fewbit::solver
