#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace fewbit::solver {

/// What is wrong with a command line that `app` could not parse, in one line: what was seen, what
/// is accepted, and whose --help says more.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace fewbit::solver
