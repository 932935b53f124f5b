// Zero-mean normals whose log sigma is uniform on [log sigma_min, log sigma_max]. With u = |x| / s
// the integral over s becomes
//   w(x) = (Phi(b) - Phi(a)) / (|x| L),   a = |x| / sigma_max,  b = |x| / sigma_min,  L = log(b /
//   a),
// that is a factor times the mean of phi over [a, b], which has a limit at 0.
#include <cmath>
#include <numbers>

#include "weights/densities.hpp"

namespace fewbit::solver {

namespace {

constexpr double kPhiAtZero = std::numbers::inv_sqrtpi / std::numbers::sqrt2;

/// The mean of phi over [a, b] by Taylor's series around the middle m, with half width h:
/// phi(m) * sum of t_{2k} / (2k + 1), where t_n = He_n(m) h^n / n! (Hermite polynomials). Where
/// b^2 - a^2 <= 1 the first term left out is below 1e-17.
double mean_by_series(double a, double b) {
  const double m = 0.5 * (a + b);
  const double h = 0.5 * (b - a);
  double older = 1.0;
  double newer = m * h;
  double sum = 1.0;
  for (int n = 1; n < 22; ++n) {
    const double next = (m * h * newer - h * h * older) / (n + 1);
    older = newer;
    newer = next;
    if (n % 2 == 1) sum += next / (n + 2);
  }
  return kPhiAtZero * std::exp(-0.5 * m * m) * sum;
}

/// The mean of phi over [a, b], 0 <= a < b, to a few units in the last place also in the far tail:
/// the two complements differ by a factor of at least exp(1/2) where they are subtracted.
double mean_of_phi(double a, double b) {
  if ((b - a) * (b + a) <= 1.0) return mean_by_series(a, b);
  const double root = std::numbers::sqrt2 / 2.0;
  return 0.5 * (std::erfc(a * root) - std::erfc(b * root)) / (b - a);
}

class Mixture final : public Weight {
 public:
  Mixture(double sigma_min, double sigma_max)
      : sigma_min_(sigma_min),
        sigma_max_(sigma_max),
        factor_((sigma_max - sigma_min) / sigma_min / sigma_max /
                std::log1p((sigma_max - sigma_min) / sigma_min)) {}

  double density(double x) const override {
    const double distance = std::fabs(x);
    return factor_ * mean_of_phi(distance / sigma_max_, distance / sigma_min_);
  }
  /// Each normal's modulus is that of a real number x with x^2 / 2 = q; where q < 0 the narrowest
  /// one grows most.
  double largest_within(double lo, double hi, double radius) const override {
    const double q = least_half_square(least_magnitude(lo, hi), radius);
    if (q >= 0.0) return density(std::sqrt(2.0 * q));
    return density(0.0) * std::exp(-q / sigma_min_ / sigma_min_);
  }
  Domain support() const override {
    return {-kSupportSigmas * sigma_max_, kSupportSigmas * sigma_max_};
  }
  double scale() const override { return sigma_min_; }
  bool is_even() const override { return true; }
  bool is_integrable() const override { return true; }

 private:
  double sigma_min_;
  double sigma_max_;
  double factor_;
};

}  // namespace

std::unique_ptr<Weight> make_mixture(double sigma_min, double sigma_max) {
  return std::make_unique<Mixture>(sigma_min, sigma_max);
}

}  // namespace fewbit::solver
