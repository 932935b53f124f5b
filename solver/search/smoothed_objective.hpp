#pragma once

#include <Eigen/Core>

#include "search/prefix_integral.hpp"
#include "search/smoothing_model.hpp"

namespace fewbit::solver {

/// F = sum of mass b^2 + lambda times the integral of w (f' - q)^2: for given thresholds and codes
/// a quadratic function of the levels, so that F can be seen as a function of the thresholds alone
/// (variable projection).
class SmoothedObjective {
 public:
  /// Both must outlive this object; the squared error counts where `moments` reaches.
  SmoothedObjective(const SmoothedDerivative& target, const PrefixIntegral& moments, double lambda);

  /// F of the step function as it is.
  double value(const StepFunction& step) const;

  /// Gives `step` the best levels for its thresholds and codes; returns F.
  double fit_levels(StepFunction& step) const;

  /// How far a computed F of this size may be off.
  double rounding(double value) const;

  /// First and second derivatives with respect to the thresholds of F with fitted levels.
  struct Expansion {
    Eigen::VectorXd gradient;
    Eigen::VectorXd fall;  ///< the gradient of each threshold just below
    Eigen::VectorXd rise;  ///< and just above itself: they differ at corners only
    Eigen::MatrixXd hessian;
    Eigen::VectorXd scale;  ///< positive curvatures, the unit of damping
  };

  /// `step` must have fitted levels.
  Expansion expand(const StepFunction& step) const;

  /// Where f' jumps within the reach of the squared error: F may have corners there.
  const std::vector<double>& jumps() const { return jumps_; }

  /// All places where F may have a corner, those where the weight jumps among them; ascending.
  const std::vector<double>& corners() const { return corners_; }

  const SmoothedDerivative& target() const { return target_; }
  const PrefixIntegral& moments() const { return moments_; }

 private:
  struct System;
  struct Slopes;
  System system_of(const StepFunction& step) const;
  Slopes slopes_of(const StepFunction& step, const Eigen::VectorXd& residual) const;
  double value_of(const System& system, const Eigen::VectorXd& levels) const;
  double weight_slope(double x) const;
  double square_slope(const StepFunction& step, Eigen::Index cut, double x) const;

  const SmoothedDerivative& target_;
  const PrefixIntegral& moments_;
  double lambda_;
  bool smooth_weight_;
  std::vector<double> jumps_;
  std::vector<double> corners_;
  Eigen::VectorXd root_mass_;
  Eigen::VectorXd scaled_target_;
};

}  // namespace fewbit::solver
