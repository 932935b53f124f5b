#pragma once

#include <string>

#include "functions/registry.hpp"
#include "proven/solve.hpp"

namespace fewbit::solver {

inline Table solved(const std::string& function, int levels, Form form = Form::levels) {
  Problem problem;
  problem.function = parse_function(function);
  problem.levels = levels;
  problem.form = form;
  return solve(problem);
}

/// Why `text` is no well-formed XML element: every tag closed in order, no bare & or <, attributes
/// quoted. Empty when it is.
std::string xml_fault(const std::string& text);

}  // namespace fewbit::solver
