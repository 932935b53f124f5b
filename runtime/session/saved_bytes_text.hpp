#pragma once

#include <cstdint>
#include <string>
#include <vector>

// How explain() writes things.
namespace fewbit::session {

// "[32, 16]".
std::string shape_text(const std::vector<std::int64_t>& shape);

// "AddmmBackward0", and a custom function's own name out of the template of libtorch's around it.
std::string short_name(std::string node);

// "a, b and c".
std::string joined(const std::vector<std::string>& names);

}  // namespace fewbit::session
