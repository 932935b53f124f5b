#pragma once

#include <string_view>
#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {

/// The quantiser of x itself: f' = x.
inline constexpr std::string_view kValueQuantizer = "value_quantizer";

/// Functions that are shipped as tables only, beside the registry: what is coded is a value, not
/// the derivative of an activation, so they have neither kernels nor modules nor a place in
/// reports, and no expression can call them. Names differ from the registry's.
const std::vector<FunctionSpec>& quantizers();

}  // namespace fewbit::solver
