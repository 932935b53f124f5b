#include "verify/resolution.hpp"

#include <cmath>

namespace fewbit::solver {
inline namespace verification {

bool may_hide_a_step(const Derivative& f, double a, double b, size_t piece, double negligible) {
  const double told = std::fabs(f.value(b, piece) - f.value(a, piece));
  // Enclosures of 0 have the width of the smallest doubles.
  const double accepted = 4.0 * told + negligible + 1e-280;
  if ((b - a) * magnitude(f.slope_bounds(a, b, piece)) <= accepted) return false;
  return !((b - a) * magnitude(f.tight_slope_bounds(a, b, piece)) <= accepted);
}

}  // namespace verification
}  // namespace fewbit::solver
