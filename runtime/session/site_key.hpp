#pragma once

#include <cstdint>
#include <string>
#include <tuple>

namespace fewbit::session {

/// A place in a model: operation, argument, the how many-th of these in a forward.
using SiteKey = std::tuple<std::string, int, int64_t>;

}  // namespace fewbit::session
