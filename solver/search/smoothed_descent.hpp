#pragma once

#include "search/smoothed_objective.hpp"

namespace fewbit::solver {

struct DescentRules {
  bool even = false;        ///< thresholds stay in exact pairs
  bool hold_jumps = false;  ///< thresholds that lie on a jump of f' stay there
  int max_steps = 60;
};

/// Moves the thresholds of `step` downhill to a local minimum of the objective, with the levels
/// fitted all along; thresholds keep their order, an interval that shrinks to nothing is taken
/// away. Returns the objective, never above the one at the start with fitted levels.
double descend(const SmoothedObjective& objective, StepFunction& step, const DescentRules& rules);

/// A few more steps at a minimum found by descend, until the thresholds themselves are right to
/// rounding; the objective stays as it is to 1e-12 of itself. Returns it.
double polish(const SmoothedObjective& objective, StepFunction& step, const DescentRules& rules);

}  // namespace fewbit::solver
