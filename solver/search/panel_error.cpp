// The rule is exact for polynomials of degree 15 and its weights are positive. So with c_m a bound
// of the integrand's Taylor coefficient of order m, the error is at most
//   2 h c_m (h/2)^m for every m up to 15: twice the length times the best polynomial's error, and
//   h^17 (8!)^4 / (17 (16!)^2) c_16 (P. Davis, P. Rabinowitz: Methods of Numerical Integration,
//   2.7).

#include "search/panel_error.hpp"

#include <algorithm>
#include <cmath>

namespace fewbit::solver {

namespace {

constexpr size_t kOrders = kDensityOrder + 1;
using Orders = std::array<double, kOrders>;

Orders product(const Orders& a, const Orders& b) {
  Orders result{};
  for (size_t i = 0; i < kOrders; ++i) {
    if (a[i] == 0.0) continue;
    for (size_t j = 0; i + j < kOrders; ++j) {
      if (b[j] != 0.0) result[i + j] += a[i] * b[j];
    }
  }
  return result;
}

}  // namespace

double panel_error(const TaylorBounds& slope, double away, const Orders& density, double width) {
  constexpr double kRounding = 1.0 + 1e-10;
  const double last = std::pow(40320.0, 4) / 17.0 / std::pow(20922789888000.0, 2);
  Orders value{};
  value[0] = away;
  for (size_t j = 1; j < kOrders; ++j) value[j] = slope[j];
  const Orders integrand = product(density, product(value, value));
  double least = INFINITY;
  double power = 2.0 * width;
  for (size_t m = 0; m < kOrders; ++m, power *= 0.5 * width) {
    // In the unit of the powers, so that it cannot overflow before they do.
    const double factor = m + 1 < kOrders ? power : std::ldexp(last, 15) * power;
    // Nothing of order m: the integrand is a polynomial of lower degree.
    if (integrand[m] == 0.0 && m > 0) return 0.0;
    const double bound = factor * integrand[m];
    if (bound < least) least = bound;
  }
  return least * kRounding;
}

}  // namespace fewbit::solver
