#pragma once

#include <string>

namespace fewbit::solver {

/// The command as a POSIX shell reads it, in one line: "fewbit-solve" and the arguments, quoted
/// where they have to be ($'...' where one holds control characters). Where the program lies is
/// left out.
std::string command_line(int argc, const char* const* argv);

}  // namespace fewbit::solver
