#pragma once

#include <memory>

#include "expression/derivative.hpp"

namespace fewbit::solver {

/// f' on [lo, hi] and, where f exists there, on a stretch below lo as short as doubles allow: where
/// f' jumps at lo, its value there is the left side's, as at any other jump.
std::unique_ptr<Derivative> derivative_with_left_side(const Expression& f, double lo, double hi);

}  // namespace fewbit::solver
