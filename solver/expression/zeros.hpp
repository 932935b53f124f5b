#pragma once

#include <vector>

#include "expression/expression.hpp"

namespace fewbit::solver {

/// Points in [lo, hi], ascending, where a smooth g computes to 0, zeros without a change of sign
/// among them. Where rounding makes a stretch of zeros around one of high order, its simplest
/// number stands for it. `work` is spent as by sign_changes(); without any left some may be
/// missing.
std::vector<double> zeros(const Expression& g, double lo, double hi, long& work);

}  // namespace fewbit::solver
