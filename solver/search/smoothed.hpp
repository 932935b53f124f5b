#pragma once

#include <vector>

#include "search/smoothing_model.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

struct SmoothedResult {
  StepFunction step;
  double residual;  ///< how far Newton's method would still move a threshold; 0 below 1e-10
};

/// A step function of at most `max_levels` levels with small sum of mass b^2 + lambda * integral
/// over `domain` of w (f' - q)^2: the objective of README.md that training follows. A local
/// optimum, the best that descents from `starts` (squared optima), from stretched and shifted
/// copies of them, from their simpler code patterns and from the patterns that the levels found
/// suggest reach; never above any start (to 1e-9 of itself). Levels ascend and differ, all are
/// named, neighbouring codes differ; even (exact pairs of thresholds) where the problem and the
/// best start were even. `quick`: no copies, and no polish of the last digits. Throws Error for no
/// starts, malformed ones, too many levels, a negative lambda, and where f' does not exist within
/// the nodes' reach.
SmoothedResult minimise_smoothed(const Expression& f, const Weight& weight, Domain domain,
                                 double lambda, const std::vector<SmoothingNode>& nodes,
                                 const std::vector<StepFunction>& starts, int max_levels,
                                 bool quick = false);

}  // namespace fewbit::solver
