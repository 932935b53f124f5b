#pragma once

#include <set>
#include <string>

#include "codegen/formula.hpp"

namespace fewbit::codegen {

/// The statements of a function body that returns term `result` as float, two spaces indented.
/// Primitives are named math::exp and so on; those that occur are added to `primitives`.
std::string write_body(const Formula& formula, int result, std::set<std::string>& primitives);

/// Indices into Formula::parameters() of the parameters that the term needs.
std::set<int> used_parameters(const Formula& formula, int result);

}  // namespace fewbit::codegen
