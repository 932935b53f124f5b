#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fewbit/memory_plan.hpp"

namespace fewbit::session {

/// A module that could be run again in backward, as its places tell.
struct Block {
  std::string module;          ///< a name up to its first number: "encoder.layers.0"
  std::vector<size_t> places;  ///< in the order in which they saved
  double seconds = 0.0;        ///< of its forward
};

/// moments: places in the order in which they saved, and how long the forward had run then. A place
/// that knows no module is of the one that those around it agree on, or of the first; modules of
/// one place are left out, as are those that others interrupt.
std::vector<Block> blocks_of(const std::vector<MemoryPlan::Place>& places,
                             const std::vector<std::pair<size_t, double>>& moments,
                             double forward_seconds);

}  // namespace fewbit::session
