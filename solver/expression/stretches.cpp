#include "expression/stretches.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "expression/taylor_bounds.hpp"

namespace fewbit::solver {

namespace {

constexpr int kMostStretches = 100000;

/// Bound of f' less its interpolant, from bounds `c` of the Taylor coefficients of f'. Of order m:
/// the Taylor polynomial of degree m - 1 about the middle misses by c_m (h/2)^m, the interpolant by
/// (1 + 2.8) times that, 2.8 being the Lebesgue constant of 16 Chebyshev points. Of order 16 by
/// c_16 2 (h/4)^16 itself.
double interpolation_error(const TaylorBounds& slope, double h) {
  constexpr double kAmplification = 3.8;
  double least = INFINITY;
  double power = 1.0;
  for (int m = 1; m <= kStretchPoints; ++m) {
    power *= 0.5 * h;
    const double c = slope[static_cast<size_t>(m)];
    if (c == 0.0) return 0.0;
    const double factor = m < kStretchPoints ? kAmplification : std::ldexp(2.0, -kStretchPoints);
    const double bound = factor * c * power;
    if (bound < least) least = bound;
  }
  return least;
}

class Resolver {
 public:
  Resolver(const Derivative& derivative, double tolerance)
      : derivative_(derivative), tolerance_(tolerance) {}

  std::vector<Stretch> run() {
    const std::vector<double>& borders = derivative_.borders();
    for (size_t piece = 0; piece < derivative_.piece_count(); ++piece) {
      search(borders[piece], borders[piece + 1], piece);
    }
    return std::move(stretches_);
  }

 private:
  void search(double lo, double hi, size_t piece) {
    const double error = interpolation_error(derivative_.taylor(lo, hi, piece), hi - lo);
    const double middle = lo + 0.5 * (hi - lo);
    if (error <= tolerance_ || ++halvings_ > kMostStretches || middle <= lo || middle >= hi) {
      stretches_.push_back({lo, hi, piece, error});
      return;
    }
    search(lo, middle, piece);
    search(middle, hi, piece);
  }

  const Derivative& derivative_;
  double tolerance_;
  int halvings_ = 0;
  std::vector<Stretch> stretches_;
};

}  // namespace

std::vector<double> stretch_points(double lo, double hi) {
  std::vector<double> points(kStretchPoints);
  const double half = 0.5 * (hi - lo);
  for (int i = 0; i < kStretchPoints; ++i) {
    const double angle = std::numbers::pi * (i + 0.5) / kStretchPoints;
    points[static_cast<size_t>(i)] = std::clamp(lo + half * (1.0 - std::cos(angle)), lo, hi);
  }
  return points;
}

std::vector<Stretch> resolve(const Derivative& derivative, double tolerance) {
  return Resolver(derivative, tolerance).run();
}

}  // namespace fewbit::solver
