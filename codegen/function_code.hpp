#pragma once

#include <set>
#include <string>

#include "expression/expression.hpp"

namespace fewbit::codegen {

/// f and f' as two host-device functions `activation` and `derivative` of float, with the
/// primitives of math.hpp that they call (as math::name).
struct FunctionCode {
  std::string text;
  std::string wide_text;   ///< f for double, `wide_activation`, by the primitive "wide"
  std::string brief_text;  ///< f for results in 16 bits, `brief_activation`, by "brief"
  std::string warp_text;   ///< f for float on a device, `warp_activation`, by "warp"
  std::set<std::string> primitives;
};

enum class Parameters {
  arguments,  ///< float arguments after x, in declared order
  folded,     ///< replaced by their values
};

/// Accuracy: at most 2 ulp of the result or 2^-24 max(1, |x|) off, whichever is larger, for every
/// built-in function with its default parameters at every float with |x| < 16 (bench/accuracy).
/// `brief_activation`, rounded to bf16 or fp16, is within one unit of the correctly rounded value
/// for each of their 65,536 values (device_functions_test). `warp_activation` is as accurate as
/// `activation` by other means. Neither has a branch on a device, but for powers. NaN gives NaN,
/// infinities give the limit. At a kink the derivative is the one on the left.
FunctionCode write_function(const solver::Expression& expression, Parameters parameters);

}  // namespace fewbit::codegen
