#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fewbit/memory_plan.hpp"

namespace fewbit::session {

/// A module that could be run again in backward, as its sites tell.
struct Block {
  std::string module;         ///< a name up to its first number: "encoder.layers.0"
  std::vector<size_t> sites;  ///< in the order in which they saved
  double seconds = 0.0;       ///< of its forward
  int64_t left_bytes = 0;     ///< at least, saved outside its sites
};

/// A site saved.
struct BlockMoment {
  size_t site;
  double seconds;          ///< that the forward had run then
  int64_t left_bytes = 0;  ///< saved from then to the next one outside every site
};

/// moments: in the order of time. A site that knows no module is of the one that those around it
/// agree on, or of the first; modules of one site are left out, as are those that others
/// interrupt.
std::vector<Block> blocks_of(const std::vector<MemoryPlan::Site>& sites,
                             const std::vector<BlockMoment>& moments, double forward_seconds);

}  // namespace fewbit::session
