#include <cmath>
#include <numbers>

#include "base/infinity.hpp"
#include "weights/densities.hpp"

namespace fewbit::solver {

namespace {

class Uniform final : public Weight {
 public:
  double density(double) const override { return 1.0; }
  double largest_within(double, double, double) const override { return 1.0; }
  Domain support() const override { return {-kInfinity, kInfinity}; }
  double scale() const override { return kInfinity; }
  bool is_even() const override { return true; }
  bool is_piecewise_constant() const override { return true; }
  bool is_integrable() const override { return false; }
};

class Normal final : public Weight {
 public:
  Normal(double mean, double sigma)
      : mean_(mean),
        sigma_(sigma),
        peak_(std::numbers::inv_sqrtpi / (std::numbers::sqrt2 * sigma)) {}

  double density(double x) const override {
    const double z = (x - mean_) / sigma_;
    return peak_ * std::exp(-0.5 * z * z);
  }
  double largest_within(double lo, double hi, double radius) const override {
    const double least = least_magnitude((lo - mean_) / sigma_, (hi - mean_) / sigma_);
    return peak_ * std::exp(-least_half_square(least, radius / sigma_));
  }
  Domain support() const override {
    return {mean_ - kSupportSigmas * sigma_, mean_ + kSupportSigmas * sigma_};
  }
  double scale() const override { return sigma_; }
  bool is_even() const override { return mean_ == 0.0; }
  bool is_integrable() const override { return true; }

 private:
  double mean_;
  double sigma_;
  double peak_;
};

}  // namespace

std::unique_ptr<Weight> make_uniform() {
  return std::make_unique<Uniform>();
}

std::unique_ptr<Weight> make_normal(double mean, double sigma) {
  return std::make_unique<Normal>(mean, sigma);
}

}  // namespace fewbit::solver
