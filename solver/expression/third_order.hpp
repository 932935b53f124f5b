#pragma once

#include "expression/expression.hpp"
#include "expression/interval.hpp"

namespace fewbit::solver {

struct HigherDerivatives {
  Interval second;  ///< that of an evaluation of jets, to the last bit
  Interval third;
};

/// Encloses f'' and f''' of a smooth expression on x.
HigherDerivatives higher_derivatives(const Expression& f, const Interval& x);

}  // namespace fewbit::solver
