#pragma once

#include <string>
#include <vector>

#include "fewbit/saved_bytes.hpp"

namespace fewbit::session {

// The text of SavedBytes::explain().
std::string explain_saved(const std::vector<SavedTensor>& entries);

}  // namespace fewbit::session
