#pragma once

#include <string>

#include "report/document.hpp"

namespace fewbit::solver {

/// A page of `fewbit-solve help`: in its notes and cells `code` stands in backquotes, and a note of
/// code lines between lines of three. to_markdown writes it for docs/, to_terminal for reading.
std::string to_terminal(const Document& page);

/// What --expr understands: docs/expressions.md.
Document expressions_page();

}  // namespace fewbit::solver
