#pragma once

#include <string>
#include <string_view>

namespace fewbit::solver {

/// One pass over `text` that keeps nothing but the keys of open objects. Throws Error for anything
/// that is not JSON, repeats a key or is nested deeper than `depth`: afterwards it is safe to build
/// a tree.
void guard_json(std::string_view text, size_t depth, const std::string& file);

}  // namespace fewbit::solver
