#pragma once

#include "codegen/formula.hpp"

namespace fewbit::codegen {

/// What the primitive for a function of one argument is called: "tanh". Not for abs.
const char* call_name(Kind kind);

}  // namespace fewbit::codegen
