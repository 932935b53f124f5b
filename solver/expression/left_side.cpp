#include "expression/left_side.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace fewbit::solver {

std::unique_ptr<Derivative> derivative_with_left_side(const Expression& f, double lo, double hi) {
  const double below = lo - std::max(0x1p-43 * std::fabs(lo), 1e-80);
  try {
    return std::make_unique<Derivative>(f, below, hi);
  } catch (const Error&) {
    return std::make_unique<Derivative>(f, lo, hi);
  }
}

}  // namespace fewbit::solver
