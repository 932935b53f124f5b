#pragma once

#include "expression/expression.hpp"
#include "expression/interval.hpp"

namespace fewbit::solver {

/// Encloses f''' of a smooth expression on x.
Interval third_derivative(const Expression& f, const Interval& x);

}  // namespace fewbit::solver
