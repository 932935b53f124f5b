// Variable projection after G. H. Golub and V. Pereyra (SIAM J. Numer. Anal. 10, 1973): the levels
// are eliminated by their k x k normal equations, the second derivatives of what remains are the
// Schur complement of the full ones. One evaluation costs N m normal distribution functions and
// N k^2 + k^3 / 3 operations (N nodes, m thresholds, k levels); an expansion N m^2 more.
// Invariant: thresholds ascend, codes name levels 0 to k - 1, one more code than thresholds.
#include "search/smoothed_objective.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Cholesky>

namespace fewbit::solver {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Spreads after which a density counts no more, even for a threshold in the tail of all inputs that
// hardly any unit sees.
constexpr double kFarthest = 12.0;

// Far enough in the tail to count as 0 or 1.
double normcdf(double z) {
  if (z > 8.5) return 1.0;
  if (z < -8.5) return 0.0;
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

VectorXd as_vector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

std::vector<double> jumps_of(const Derivative& derivative) {
  std::vector<double> jumps;
  const std::vector<double>& borders = derivative.borders();
  for (size_t i = 1; i + 1 < borders.size(); ++i) {
    const double left = derivative.value(borders[i], i - 1);
    const double right = derivative.value(borders[i], i);
    if (std::abs(right - left) > 1e-12 * (std::abs(left) + std::abs(right))) {
      jumps.push_back(borders[i]);
    }
  }
  return jumps;
}

// The ridge keeps levels without any mass at rest. It is no part of the problem: whoever solves
// with it refines with the matrix itself.
Eigen::LDLT<MatrixXd> factor_with_ridge(MatrixXd gram) {
  gram.diagonal().array() += 1e-15 * gram.trace() / static_cast<double>(gram.rows());
  return Eigen::LDLT<MatrixXd>(gram);
}

std::vector<double> corners_of(const PrefixIntegral& moments, std::vector<double> corners) {
  const std::vector<double> breaks = moments.weight().breaks();
  corners.insert(corners.end(), breaks.begin(), breaks.end());
  corners.insert(corners.end(), {moments.derivative().lo(), moments.derivative().hi()});
  std::sort(corners.begin(), corners.end());
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  return corners;
}

Index code_at(const StepFunction& step, Index interval) {
  return step.codes[static_cast<size_t>(interval)];
}

}  // namespace

/// The quadratic function of the levels.
struct SmoothedObjective::System {
  MatrixXd basis;  ///< node j, level a: root mass times the smoothed indicator of the level's set
  VectorXd mass, first, second;  ///< moments of each level's set
  MatrixXd gram;                 ///< basis' basis + lambda diag(mass): half the second derivative
};

/// What a small shift of each threshold does.
struct SmoothedObjective::Slopes {
  MatrixXd peak;       ///< node j, threshold i: root mass times the density of N(mean, spread^2)
  VectorXd jump;       ///< level on the right minus level on the left
  VectorXd curvature;  ///< residual times the derivative of `peak`, with the sign of -db/ds / jump
  VectorXd density, density_slope, value, value_slope;  ///< w, w', f', f''
};

SmoothedObjective::SmoothedObjective(const SmoothedDerivative& target,
                                     const PrefixIntegral& moments, double lambda)
    : target_(target),
      moments_(moments),
      lambda_(lambda),
      smooth_weight_(moments.weight().breaks().empty()),
      jumps_(jumps_of(moments.derivative())),
      corners_(corners_of(moments, jumps_)),
      root_mass_(static_cast<Index>(target.nodes().size())) {
  for (Index j = 0; j < root_mass_.size(); ++j) {
    root_mass_(j) = std::sqrt(target.nodes()[static_cast<size_t>(j)].mass);
  }
  scaled_target_ = root_mass_.cwiseProduct(as_vector(target.values()));
}

SmoothedObjective::System SmoothedObjective::system_of(const StepFunction& step) const {
  const auto levels = static_cast<Index>(step.levels.size());
  const auto cuts = static_cast<Index>(step.thresholds.size());
  System system{MatrixXd::Zero(root_mass_.size(), levels),
                VectorXd::Zero(levels),
                VectorXd::Zero(levels),
                VectorXd::Zero(levels),
                {}};
  VectorXd below = VectorXd::Zero(root_mass_.size());
  Moments passed;
  for (Index i = 0; i <= cuts; ++i) {
    VectorXd upto = root_mass_;
    Moments prefix = moments_.total().shifted(moments_.center());
    if (i < cuts) {
      const double s = step.thresholds[static_cast<size_t>(i)];
      prefix = moments_.at(s).shifted(moments_.center());
      for (Index j = 0; j < upto.size(); ++j) {
        const SmoothingNode& node = target_.nodes()[static_cast<size_t>(j)];
        upto(j) *= normcdf((s - node.mean) / node.spread);
      }
    }
    const Index code = code_at(step, i);
    system.basis.col(code) += upto - below;
    system.mass(code) += prefix.mass - passed.mass;
    system.first(code) += prefix.first - passed.first;
    system.second(code) += prefix.second - passed.second;
    below = upto;
    passed = prefix;
  }
  system.gram.noalias() = system.basis.transpose() * system.basis;
  system.gram.diagonal() += lambda_ * system.mass;
  return system;
}

double SmoothedObjective::value_of(const System& system, const VectorXd& levels) const {
  const double bias = (system.basis * levels - scaled_target_).squaredNorm();
  const VectorXd squared = system.second - 2.0 * levels.cwiseProduct(system.first) +
                           levels.cwiseAbs2().cwiseProduct(system.mass);
  return bias + lambda_ * squared.cwiseMax(0.0).sum();
}

double SmoothedObjective::value(const StepFunction& step) const {
  return value_of(system_of(step), as_vector(step.levels));
}

double SmoothedObjective::fit_levels(StepFunction& step) const {
  const System system = system_of(step);
  const Eigen::LDLT<MatrixXd> factor = factor_with_ridge(system.gram);
  VectorXd levels = VectorXd::Zero(system.mass.size());
  for (int i = 0; i < 3; ++i) {
    // What the levels leave over is small: so is its rounding.
    const VectorXd missing = scaled_target_ - system.basis * levels;
    levels += factor.solve(system.basis.transpose() * missing +
                           lambda_ * (system.first - system.mass.cwiseProduct(levels)));
  }
  step.levels.assign(levels.data(), levels.data() + levels.size());
  return value_of(system, levels);
}

double SmoothedObjective::rounding(double value) const {
  return 1e-15 * scaled_target_.norm() * std::sqrt(value) +
         1e-14 * lambda_ * moments_.total().second;
}

double SmoothedObjective::weight_slope(double x) const {
  if (!smooth_weight_) return 0.0;
  const double h = 1e-5 * moments_.weight().scale();
  return (moments_.weight().density(x + h) - moments_.weight().density(x - h)) / (2.0 * h);
}

// What the squared error adds to the gradient of a threshold, were it at x.
double SmoothedObjective::square_slope(const StepFunction& step, Index cut, double x) const {
  const Derivative& derivative = moments_.derivative();
  if (x <= derivative.lo() || x >= derivative.hi()) return 0.0;
  const double left = step.levels[static_cast<size_t>(code_at(step, cut))];
  const double right = step.levels[static_cast<size_t>(code_at(step, cut + 1))];
  return lambda_ * moments_.weight().density(x) * (right - left) *
         (2.0 * derivative.value(x) - left - right);
}

SmoothedObjective::Slopes SmoothedObjective::slopes_of(const StepFunction& step,
                                                       const VectorXd& residual) const {
  const auto cuts = static_cast<Index>(step.thresholds.size());
  Slopes slopes{MatrixXd::Zero(root_mass_.size(), cuts),
                VectorXd(cuts),
                VectorXd::Zero(cuts),
                VectorXd::Zero(cuts),
                VectorXd::Zero(cuts),
                VectorXd::Zero(cuts),
                VectorXd::Zero(cuts)};
  const double root_two_pi = std::sqrt(2.0 * std::numbers::pi);
  const Derivative& derivative = moments_.derivative();
  for (Index i = 0; i < cuts; ++i) {
    const double s = step.thresholds[static_cast<size_t>(i)];
    slopes.jump(i) = step.levels[static_cast<size_t>(code_at(step, i + 1))] -
                     step.levels[static_cast<size_t>(code_at(step, i))];
    for (Index j = 0; j < root_mass_.size(); ++j) {
      const SmoothingNode& node = target_.nodes()[static_cast<size_t>(j)];
      const double z = (s - node.mean) / node.spread;
      if (std::abs(z) > kFarthest) continue;
      const double peak = root_mass_(j) * std::exp(-0.5 * z * z) / (node.spread * root_two_pi);
      slopes.peak(j, i) = peak;
      slopes.curvature(i) += residual(j) * peak * z / node.spread;
    }
    if (s <= derivative.lo() || s >= derivative.hi()) continue;
    slopes.density(i) = moments_.weight().density(s);
    slopes.density_slope(i) = weight_slope(s);
    slopes.value(i) = derivative.value(s);
    slopes.value_slope(i) = derivative.slope(s);
  }
  return slopes;
}

SmoothedObjective::Expansion SmoothedObjective::expand(const StepFunction& step) const {
  const System system = system_of(step);
  const VectorXd levels = as_vector(step.levels);
  const VectorXd residual = system.basis * levels - scaled_target_;
  const Slopes at = slopes_of(step, residual);
  const auto cuts = static_cast<Index>(step.thresholds.size());
  // b falls by `jump * peak` per unit of threshold.
  const MatrixXd fall = at.peak * at.jump.asDiagonal();
  const VectorXd pull = at.peak.transpose() * residual;
  MatrixXd mixed = -2.0 * fall.transpose() * system.basis;
  Expansion result{VectorXd(cuts), {}, {}, 2.0 * fall.transpose() * fall, VectorXd(cuts)};
  for (Index i = 0; i < cuts; ++i) {
    const Index left = code_at(step, i);
    const Index right = code_at(step, i + 1);
    const double across = 2.0 * at.value(i) - levels(left) - levels(right);
    const double weight = lambda_ * at.density(i);
    result.gradient(i) = at.jump(i) * (weight * across - 2.0 * pull(i));
    result.scale(i) =
        result.hessian(i, i) + 2.0 * weight * std::abs(at.jump(i) * at.value_slope(i)) + 1e-300;
    result.hessian(i, i) +=
        at.jump(i) * (2.0 * at.curvature(i) + lambda_ * at.density_slope(i) * across +
                      2.0 * weight * at.value_slope(i));
    mixed(i, right) += 2.0 * (weight * (at.value(i) - levels(right)) - pull(i));
    mixed(i, left) -= 2.0 * (weight * (at.value(i) - levels(left)) - pull(i));
  }
  const Eigen::LDLT<MatrixXd> factor = factor_with_ridge(system.gram);
  // Fitted levels leave a slope of rounding size; where the Gram matrix is nearly singular it
  // counts.
  const VectorXd left_over = system.basis.transpose() * residual +
                             lambda_ * (system.mass.cwiseProduct(levels) - system.first);
  result.gradient.noalias() -= mixed * factor.solve(left_over);
  result.fall = result.gradient;
  result.rise = result.gradient;
  for (Index i = 0; i < cuts; ++i) {
    const double s = step.thresholds[static_cast<size_t>(i)];
    if (!std::binary_search(corners_.begin(), corners_.end(), s)) continue;
    const double here = square_slope(step, i, s);
    result.fall(i) += square_slope(step, i, std::nextafter(s, -HUGE_VAL)) - here;
    result.rise(i) += square_slope(step, i, std::nextafter(s, HUGE_VAL)) - here;
  }
  result.hessian.noalias() -= 0.5 * mixed * factor.solve(mixed.transpose());
  return result;
}

}  // namespace fewbit::solver
