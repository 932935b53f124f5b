#pragma once

#include <string>

namespace fewbit::solver {

/// Writes to standard output; flush_output reports what did not arrive.
void print(const std::string& text);

/// To `path` (atomically), or to standard output where it is empty or "-".
void write_output(const std::string& path, const std::string& content);

/// Throws Error when something written to standard output was lost (a full disk).
void flush_output();

/// Standard output shows colours: a terminal, and NO_COLOR is not set.
bool wants_colour();

}  // namespace fewbit::solver
