#include <algorithm>
#include <cmath>
#include <utility>

#include "weights/weight.hpp"

namespace fewbit::solver {

namespace {

class Folded final : public Weight {
 public:
  explicit Folded(std::shared_ptr<const Weight> weight) : weight_(std::move(weight)) {}

  double density(double x) const override {
    if (x < 0.0) return 0.0;
    if (weight_->is_even()) return 2.0 * weight_->density(x);
    return weight_->density(x) + weight_->density(-x);
  }

  double density_between(double lo, double hi) const override {
    if (hi <= 0.0) return 0.0;
    return weight_->density_between(lo, hi) + weight_->density_between(-hi, -lo);
  }

  double largest_within(double lo, double hi, double radius) const override {
    return weight_->largest_within(lo, hi, radius) + weight_->largest_within(-hi, -lo, radius);
  }

  Domain support() const override {
    const Domain whole = weight_->support();
    if (whole.lo >= 0.0) return whole;
    if (whole.hi <= 0.0) return {-whole.hi, -whole.lo};
    return {0.0, std::max(-whole.lo, whole.hi)};
  }

  /// Where the shorter side ends the sum jumps too.
  std::vector<double> breaks() const override {
    const Domain whole = weight_->support();
    const Domain ends = support();
    std::vector<double> points = {std::fabs(whole.lo), std::fabs(whole.hi)};
    for (const double point : weight_->breaks()) points.push_back(std::fabs(point));
    std::erase_if(points, [&](double point) { return point <= ends.lo || point >= ends.hi; });
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    return points;
  }

  double scale() const override { return weight_->scale(); }
  bool is_even() const override { return false; }
  bool is_piecewise_constant() const override { return weight_->is_piecewise_constant(); }
  bool is_integrable() const override { return weight_->is_integrable(); }

 private:
  std::shared_ptr<const Weight> weight_;
};

}  // namespace

std::unique_ptr<Weight> fold_weight(std::shared_ptr<const Weight> weight) {
  return std::make_unique<Folded>(std::move(weight));
}

}  // namespace fewbit::solver
