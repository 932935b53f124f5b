#include <algorithm>
#include <cmath>
#include <limits>

#include "weights/weight.hpp"

namespace fewbit::solver {

std::array<double, kDensityOrder + 1> density_bounds(const Weight& weight, double lo, double hi) {
  constexpr int kCircles = 5;
  std::array<double, kDensityOrder + 1> bounds{};
  bounds.fill(std::numeric_limits<double>::infinity());
  bounds[0] = weight.largest_within(lo, hi, 0.0);
  if (weight.is_piecewise_constant()) {
    std::fill(bounds.begin() + 1, bounds.end(), 0.0);
    return bounds;
  }
  for (int circle = 0; circle < kCircles; ++circle) {
    const double radius = std::ldexp(hi - lo, circle);
    double bound = weight.largest_within(lo, hi, radius);
    for (size_t j = 1; j < bounds.size(); ++j) {
      bound /= radius;
      bounds[j] = std::min(bounds[j], bound);
    }
  }
  return bounds;
}

double least_magnitude(double lo, double hi) {
  return lo <= 0.0 && hi >= 0.0 ? 0.0 : std::min(std::fabs(lo), std::fabs(hi));
}

double least_half_square(double least, double radius) {
  // Re z^2 for z = x + r e^(i t) is least where cos t = -x / (2 r), or at t = pi.
  if (least > 2.0 * radius) return 0.5 * (least - radius) * (least - radius);
  return 0.25 * least * least - 0.5 * radius * radius;
}

}  // namespace fewbit::solver
