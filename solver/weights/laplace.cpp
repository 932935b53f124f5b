#include <cmath>

#include "weights/densities.hpp"

namespace fewbit::solver {

namespace {

/// The density stops at this many scales: 3e-33 of the mass lies outside, as for a normal.
constexpr double kSupportScales = 75.0;

class Laplace final : public Weight {
 public:
  Laplace(double mean, double scale) : mean_(mean), scale_(scale) {}

  double density(double x) const override {
    return 0.5 / scale_ * std::exp(-std::fabs(x - mean_) / scale_);
  }
  /// Continued from its side of the mean.
  double largest_within(double lo, double hi, double radius) const override {
    const double least = least_magnitude(lo - mean_, hi - mean_);
    return 0.5 / scale_ * std::exp((radius - least) / scale_);
  }
  Domain support() const override {
    return {mean_ - kSupportScales * scale_, mean_ + kSupportScales * scale_};
  }
  std::vector<double> breaks() const override { return {mean_}; }
  double scale() const override { return scale_; }
  bool is_even() const override { return mean_ == 0.0; }
  bool is_integrable() const override { return true; }

 private:
  double mean_;
  double scale_;
};

}  // namespace

std::unique_ptr<Weight> make_laplace(double mean, double scale) {
  return std::make_unique<Laplace>(mean, scale);
}

}  // namespace fewbit::solver
