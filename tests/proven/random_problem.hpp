#pragma once

#include <string>

#include "table/table.hpp"
#include "tests/proven/slow_reference.hpp"

namespace fewbit::test {

/// A problem with what the slow reference has to know of it.
struct RandomProblem {
  solver::Problem problem;
  Features features;
  std::string text;  ///< as one would type it, for messages
};

/// For use within a rapidcheck property: a function of the registry with parameters over the whole
/// range that `list` allows.
solver::FunctionSpec any_registered();

/// For use within a rapidcheck property: a function of the registry with parameters over the whole
/// range that `list` allows, or an expression with features of any width at any place; a domain of
/// any size, a weight of any kind and scale, a form, 1 to 4 bits.
RandomProblem any_problem();

}  // namespace fewbit::test
