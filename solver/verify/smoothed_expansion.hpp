#pragma once

#include <Eigen/Core>

#include "verify/axis.hpp"
#include "verify/units.hpp"

namespace fewbit::solver {

/// F = sum over units of mass b^2 + lambda times the integral of w (f' - q)^2, to second order in
/// the thresholds (first) and levels (last) of a table: of an even one in those of |x|.
struct SmoothedExpansion {
  Eigen::VectorXd gradient;
  Eigen::VectorXd fall;      ///< gradient with each threshold a little lower and
  Eigen::VectorXd rise;      ///< a little higher: they differ at a corner of F
  Eigen::MatrixXd rounding;  ///< covariance of what the gradient may be off by
  Eigen::MatrixXd hessian;
};

/// F as a function of the numbers of a table: its problem, symmetry and codes stay.
class SmoothedObjectiveCheck {
 public:
  /// Throws Error where f' does not reach as far as the inputs do. `axis` must outlive this.
  SmoothedObjectiveCheck(const Problem& problem, const InputAxis& axis);

  SmoothedExpansion expand(const Table& table) const;

  /// Ascending places where f' or w jumps: F has a corner in a threshold that stands there.
  const std::vector<double>& corners() const { return corners_; }

 private:
  struct Around;  ///< one table with what all derivatives need
  void add_bias(const Around& around, SmoothedExpansion& sum) const;
  void add_squares(const Around& around, SmoothedExpansion& sum) const;
  double square_slope(const Around& around, size_t cut, double x) const;

  const InputAxis& axis_;
  double lambda_;
  double step_;  ///< over which w may be taken as linear; 0 where it is piecewise constant
  Units units_;
  Derivative derivative_;
  std::vector<double> corners_;
};

}  // namespace fewbit::solver
