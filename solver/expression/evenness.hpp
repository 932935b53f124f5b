#pragma once

#include "expression/expression.hpp"

namespace fewbit::solver {

/// Of the largest |f'|: what f'(x) and f'(-x) of an even derivative may differ by.
inline constexpr double kEvenness = 1e-14;

/// f'(-x) and f'(x) differ by rounding at most (kEvenness) on all of [-end, end].
/// False also where f is not differentiable on one of the sides.
bool is_even(const Expression& f, double end);

}  // namespace fewbit::solver
