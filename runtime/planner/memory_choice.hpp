#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fewbit/memory_plan.hpp"

namespace fewbit::session {

/// Chooses for every site, so that the sum of seconds is the least while no more than `bytes` are
/// saved, or as many as it takes. roots: the site that one may be recomputed from, only where that
/// is coded; those have none themselves. Within a family of sites that are recomputed from one root
/// some choices are left out where there are hundreds.
///
/// Returns the seconds that one byte more would save; 0: none.
double choose(std::vector<MemoryPlan::Site>& sites, const std::vector<std::optional<size_t>>& roots,
              int64_t bytes);

}  // namespace fewbit::session
