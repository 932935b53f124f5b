#pragma once

#include "examples/support/page.hpp"

namespace fewbit::examples {

/// What two networks of torch::nn keep of a forward under several budgets, batch and loss included,
/// and how long a training step takes beside an exact one.
void add_plans(Page& page, Outcome& outcome);

}  // namespace fewbit::examples
