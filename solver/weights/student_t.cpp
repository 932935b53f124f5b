#include <cmath>
#include <numbers>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include "base/infinity.hpp"
#include "weights/densities.hpp"

namespace fewbit::solver {

namespace {

/// What may lie outside of the support, on either side.
constexpr double kTail = 4e-21;

/// The distance, in scales, beyond which kTail of the mass lies; infinite where no double holds it.
double reach_of(double degrees) {
  using boost::math::policies::ignore_error;
  using Policy = boost::math::policies::policy<boost::math::policies::overflow_error<ignore_error>>;
  // The tail is nearly a power: (degrees / reach^2)^(degrees / 2), times at most a few. Where that
  // is out of range already, the quantile is not asked for.
  if (-std::log10(kTail) / degrees > 200.0) return kInfinity;
  const boost::math::students_t_distribution<double, Policy> distribution(degrees);
  return boost::math::quantile(complement(distribution, kTail));
}

class StudentT final : public Weight {
 public:
  StudentT(double mean, double scale, double degrees)
      : mean_(mean),
        scale_(scale),
        degrees_(degrees),
        // Gamma((n + 1) / 2) / Gamma(n / 2) as one ratio: exact for millions of degrees too.
        peak_(std::numbers::inv_sqrtpi / std::sqrt(degrees) / scale /
              boost::math::tgamma_delta_ratio(0.5 * degrees, 0.5)),
        reach_(scale * reach_of(degrees)) {}

  double density(double x) const override {
    const double z = (x - mean_) / scale_;
    return peak_ * std::exp(-0.5 * (degrees_ + 1.0) * std::log1p(z * z / degrees_));
  }
  /// |1 + z^2 / n| is no less than its real part, which is least where that of z^2 is.
  double largest_within(double lo, double hi, double radius) const override {
    const double least = least_magnitude((lo - mean_) / scale_, (hi - mean_) / scale_);
    const double term = 2.0 * least_half_square(least, radius / scale_) / degrees_;
    return term > -1.0 ? peak_ * std::exp(-0.5 * (degrees_ + 1.0) * std::log1p(term)) : kInfinity;
  }

  Domain support() const override {
    if (!is_integrable()) return {-kInfinity, kInfinity};
    return {mean_ - reach_, mean_ + reach_};
  }
  double scale() const override { return scale_; }
  bool is_even() const override { return mean_ == 0.0; }
  bool is_integrable() const override { return reach_ <= kLargestInput; }

 private:
  double mean_;
  double scale_;
  double degrees_;
  double peak_;
  double reach_;
};

}  // namespace

std::unique_ptr<Weight> make_student_t(double mean, double scale, double degrees) {
  return std::make_unique<StudentT>(mean, scale, degrees);
}

}  // namespace fewbit::solver
