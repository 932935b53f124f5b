#pragma once

#include <set>
#include <string>

#include "codegen/formula.hpp"

namespace fewbit::codegen {

/// The arithmetic that a function body works in.
enum class Real {
  single_precision,
  double_precision,
  brief,  ///< float, good enough for results in 16 bits, cheap on a device
  warp,   ///< float, without branches and divisions, for a device
};

/// The statements of a function body that returns term `result` as float, two spaces indented.
/// Primitives are named math::exp and so on; those that occur are added to `primitives`. In double
/// precision they are math::wide::exp and so on, all in the one primitive "wide"; likewise those of
/// "brief" and "warp".
std::string write_body(const Formula& formula, int result, std::set<std::string>& primitives,
                       Real real = Real::single_precision);

/// Indices into Formula::parameters() of the parameters that the term needs.
std::set<int> used_parameters(const Formula& formula, int result);

}  // namespace fewbit::codegen
