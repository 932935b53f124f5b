#pragma once

#include "codegen/formula.hpp"

namespace fewbit::codegen {

bool is_comparison(Kind kind);

/// "<", "<=" and so on.
const char* comparison_sign(Kind kind);

bool holds(Kind comparison, double a, double b);

/// The float in the place of `bound` that decides every comparison of a float with it alike.
double float_bound(Kind comparison, double bound);

/// `condition` compares x itself with a constant.
bool bounds_variable(const Formula& formula, const Term& condition);

}  // namespace fewbit::codegen
