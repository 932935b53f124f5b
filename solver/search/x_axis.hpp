#pragma once

#include "search/axis.hpp"
#include "search/prefix_integral.hpp"

namespace fewbit::solver {

/// The inputs x themselves: segments are intervals of x.
class XAxis : public Axis {
 public:
  /// `integral` must outlive this object.
  explicit XAxis(const PrefixIntegral& integral);

  double lo() const override { return derivative_.lo(); }
  double hi() const override { return derivative_.hi(); }
  Moments prefix(double x) const override { return integral_.at(x); }
  Border border(double x) const override { return {x, 0.0, prefix(x)}; }
  double swing(double a, double b) const override;
  bool is_monotone(double a, double b) const override;
  double value(double x) const override { return derivative_.value(x) - integral_.center(); }
  double slope(double x) const override { return derivative_.slope(x); }
  double density(double x) const override { return integral_.weight().density(x); }
  bool jumps_across(double x, double level) const override;
  std::vector<Border> first_borders(size_t count) const override;

 private:
  const PrefixIntegral& integral_;
  const Derivative& derivative_;
};

/// Ascending x from lo to hi with all kinks, about `count` cells, each with the same integral of
/// sqrt(|f''| w): cells of equal rounding cost.
std::vector<double> equal_cost_points(const PrefixIntegral& integral, size_t count);

}  // namespace fewbit::solver
