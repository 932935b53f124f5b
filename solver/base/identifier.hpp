#pragma once

#include <string_view>

namespace fewbit {

/// Letters, digits and _, at most 64 of them, no digit first.
bool is_identifier(std::string_view name);

/// One of the words of C++20 that would not compile as a name.
bool is_cpp_keyword(std::string_view name);

}  // namespace fewbit
