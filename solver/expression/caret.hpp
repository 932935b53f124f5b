#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fewbit::solver {

/// Throws Error: the message, the text around byte `position`, and a caret below that character.
[[noreturn]] void fail_at(std::string_view text, size_t position, const std::string& message);

/// The character at `position` in quotes; "byte 0xff" for what cannot be printed.
std::string character_at(std::string_view text, size_t position);

}  // namespace fewbit::solver
