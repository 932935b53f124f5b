#pragma once

#include <cstddef>

#include "expression/expression.hpp"

namespace fewbit::solver {

inline constexpr size_t kBlockPoints = 64;

/// f, f' and f'' of a smooth expression at up to kBlockPoints points at once, node by node. Any of
/// the outputs but `first` may be null; without `second` nothing of second order is computed.
void evaluate_block(const Expression& f, const double* x, size_t count, double* value,
                    double* first, double* second);

}  // namespace fewbit::solver
