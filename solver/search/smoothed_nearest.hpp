#pragma once

#include <vector>

#include "search/smoothing_model.hpp"

namespace fewbit::solver {

/// The step function that gives every x in the derivative's span the level nearest to f'(x): the
/// pattern of codes that these levels suggest. `levels` ascend and differ; those that are never
/// nearest are still listed.
StepFunction nearest_levels(const Derivative& derivative, const std::vector<double>& levels);

}  // namespace fewbit::solver
