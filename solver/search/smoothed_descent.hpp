#pragma once

#include "search/smoothed_objective.hpp"

namespace fewbit::solver {

struct DescentRules {
  bool even = false;        ///< thresholds stay in exact pairs
  bool hold_jumps = false;  ///< thresholds that lie on a jump of f' stay there
  int max_steps = 60;
  double creeping = 1e-7;  ///< four steps in a row that gain less than this share are the last ones
};

/// Moves the thresholds of `step` downhill to a local minimum of the objective, with the levels
/// fitted all along; thresholds keep their order, an interval that shrinks to nothing is taken
/// away. Returns the objective, never above the one at the start with fitted levels.
double descend(const SmoothedObjective& objective, StepFunction& step, const DescentRules& rules);

/// Goes on from a minimum found by descend, until the thresholds themselves are right to rounding,
/// also where the objective is too flat to show it, and stand at a corner of the objective where
/// one is lowest; `steps` at most. The objective never rises by more than rounding in a step.
/// Returns how far the next step would still move a threshold: rounding, unless the objective did
/// not allow for more.
double settle(const SmoothedObjective& objective, StepFunction& step, bool even, int steps = 60);

}  // namespace fewbit::solver
