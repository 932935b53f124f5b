#pragma once

#include "codegen/formula.hpp"

namespace fewbit::codegen {

/// What float code must add so that NaN stays NaN and infinity gives the limit.
struct Guards {
  float low = 0.0f;   ///< x is raised to this first; 0: not needed
  float high = 0.0f;  ///< x is lowered to this first; 0: not needed
  bool nan = false;   ///< NaN would come out as a number
};

/// Tries the formula at infinity and at the largest floats: where that is NaN (x * normcdf(x) at
/// -infinity) but the formula settles for large x, the argument is kept at the largest power of two
/// that still works.
Guards find_guards(const Formula& formula, int result);

}  // namespace fewbit::codegen
