// b is linear in the levels and a sum of normal distribution functions of the thresholds, so all
// derivatives of F but those of w have closed forms.

#include "verify/smoothed_expansion.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "verify/bias.hpp"

namespace fewbit::solver {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kUnitRounding = 4e-16;

double normcdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

/// The inputs of one unit at x; of |x| when folded.
struct Scatter {
  double below = 0.0;  ///< share up to x
  double density = 0.0;
  double slope = 0.0;  ///< of the density
};

Scatter scatter_at(const UnitSpec& unit, double x, bool folded) {
  const double z = (x - unit.mean) / unit.spread;
  const double density = std::exp(-0.5 * z * z) / (unit.spread * std::sqrt(2.0 * std::numbers::pi));
  Scatter here = {normcdf(z), density, -z / unit.spread * density};
  if (folded) {
    const Scatter mirrored = scatter_at(unit, -x, false);
    here.below -= mirrored.below;
    here.density += mirrored.density;
    here.slope -= mirrored.slope;
  }
  return here;
}

std::vector<double> corners_of(const InputAxis& axis, const Problem& problem) {
  std::vector<double> corners = axis.derivative().borders();
  const auto weight = make_weight(problem.weight);
  std::vector<double> breaks = weight->breaks();
  const Domain domain = finite_domain(problem, *weight);
  breaks.insert(breaks.end(), {domain.lo, domain.hi});
  for (const double x : breaks) {
    corners.push_back(x);
    if (axis.folded()) corners.push_back(-x);
  }
  if (axis.folded()) std::erase_if(corners, [](double x) { return x <= 0.0; });
  std::sort(corners.begin(), corners.end());
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  return corners;
}

/// Over which w may be taken as linear; 0 where it is piecewise constant.
double smooth_length(const WeightSpec& spec) {
  const auto weight = make_weight(spec);
  return weight->is_piecewise_constant() ? 0.0 : 1e-5 * weight->scale();
}

}  // namespace

struct SmoothedObjectiveCheck::Around {
  explicit Around(const Table& at)
      : table(at), cuts(static_cast<Eigen::Index>(at.thresholds.size())) {}

  const Table& table;
  Eigen::Index cuts;

  Eigen::Index level(size_t interval) const { return cuts + table.codes[interval]; }
  double left(size_t cut) const { return value(table.codes[cut]); }
  double right(size_t cut) const { return value(table.codes[cut + 1]); }
  double jump(size_t cut) const { return right(cut) - left(cut); }

 private:
  double value(int code) const { return table.levels[static_cast<size_t>(code)]; }
};

SmoothedObjectiveCheck::SmoothedObjectiveCheck(const Problem& problem, const InputAxis& axis)
    : axis_(axis),
      lambda_(problem.objective.lambda),
      step_(smooth_length(problem.weight)),
      units_(units_of(problem.weight, problem.objective.tau)),
      derivative_(derivative_seen_by(units_, problem.function)),
      corners_(corners_of(axis, problem)) {}

SmoothedExpansion SmoothedObjectiveCheck::expand(const Table& table) const {
  const Around around(table);
  const Eigen::Index size = around.cuts + static_cast<Eigen::Index>(table.levels.size());
  SmoothedExpansion sum{
      VectorXd::Zero(size), {}, {}, MatrixXd::Zero(size, size), MatrixXd::Zero(size, size)};
  add_bias(around, sum);
  add_squares(around, sum);
  sum.fall = sum.gradient;
  sum.rise = sum.gradient;
  for (size_t i = 0; i < table.thresholds.size(); ++i) {
    const double s = table.thresholds[i];
    if (!std::binary_search(corners_.begin(), corners_.end(), s)) continue;
    const double here = square_slope(around, i, s);
    const auto cut = static_cast<Eigen::Index>(i);
    sum.fall(cut) += lambda_ * (square_slope(around, i, std::nextafter(s, -HUGE_VAL)) - here);
    sum.rise(cut) += lambda_ * (square_slope(around, i, std::nextafter(s, HUGE_VAL)) - here);
  }
  return sum;
}

void SmoothedObjectiveCheck::add_bias(const Around& around, SmoothedExpansion& sum) const {
  const Table& table = around.table;
  const size_t cuts = table.thresholds.size();
  const bool folded = axis_.folded();
  const double size = std::max(std::fabs(table.levels.front()), std::fabs(table.levels.back()));
  const std::vector<double> biases = unit_biases(table, derivative_, units_);
  MatrixXd slopes = MatrixXd::Zero(sum.gradient.size(), static_cast<Eigen::Index>(units_.size()));
  for (size_t j = 0; j < units_.size(); ++j) {
    const double mass = units_[j].mass;
    auto slope = slopes.col(static_cast<Eigen::Index>(j));
    double before = 0.0;
    for (size_t i = 0; i < cuts; ++i) {
      const auto cut = static_cast<Eigen::Index>(i);
      const Scatter at = scatter_at(units_[j], table.thresholds[i], folded);
      slope(cut) = -around.jump(i) * at.density;
      slope(around.level(i)) += at.below - before;
      before = at.below;
      const double pull = 2.0 * mass * biases[j];
      sum.hessian(cut, cut) -= pull * around.jump(i) * at.slope;
      sum.hessian(cut, around.level(i)) += pull * at.density;
      sum.hessian(cut, around.level(i + 1)) -= pull * at.density;
    }
    slope(around.level(cuts)) += 1.0 - before;
    sum.gradient += 2.0 * mass * biases[j] * slope;
    const double off = 2.0 * mass * kUnitRounding * size;
    sum.rounding += off * off * slope * slope.transpose();
    slope *= std::sqrt(2.0 * mass);
  }
  sum.hessian.bottomLeftCorner(sum.hessian.rows() - around.cuts, around.cuts) =
      sum.hessian.topRightCorner(around.cuts, sum.hessian.rows() - around.cuts).transpose();
  sum.hessian += slopes * slopes.transpose();
}

/// Derivative of the integral of w (f' - q)^2 by a threshold, were it at x.
double SmoothedObjectiveCheck::square_slope(const Around& around, size_t cut, double x) const {
  const Derivative& f = axis_.derivative();
  if (!(x > f.lo() && x < f.hi())) return 0.0;
  return axis_.density(x) * around.jump(cut) *
         (2.0 * f.value(x) - around.left(cut) - around.right(cut));
}

void SmoothedObjectiveCheck::add_squares(const Around& around, SmoothedExpansion& sum) const {
  const Table& table = around.table;
  const Derivative& f = axis_.derivative();
  double from = f.lo();
  for (size_t i = 0; i < table.codes.size(); ++i) {
    const auto cut = static_cast<Eigen::Index>(i);
    const Eigen::Index level = around.level(i);
    const bool last = i == table.thresholds.size();
    const double to = last ? f.hi() : std::clamp(table.thresholds[i], f.lo(), f.hi());
    const AxisMoments set = axis_.integrate(from, to, around.left(i));
    sum.gradient(level) -= 2.0 * lambda_ * set.first;
    sum.hessian(level, level) += 2.0 * lambda_ * set.mass;
    from = to;
    if (last) break;
    const double s = table.thresholds[i];
    sum.gradient(cut) += lambda_ * square_slope(around, i, s);
    if (!(s > f.lo() && s < f.hi())) continue;
    const double density = lambda_ * axis_.density(s);
    const double value = f.value(s);
    const double across = 2.0 * value - around.left(i) - around.right(i);
    const double bend = step_ > 0.0 ? lambda_ * across / (2.0 * step_) *
                                          (axis_.density(s + step_) - axis_.density(s - step_))
                                    : 0.0;
    const double off = kUnitRounding * density * std::fabs(around.jump(i)) *
                       (std::fabs(value) + std::fabs(s * f.slope(s)));
    sum.rounding(cut, cut) += off * off;
    sum.hessian(cut, cut) += around.jump(i) * (bend + 2.0 * density * f.slope(s));
    const double right = 2.0 * density * (value - around.right(i));
    const double left = -2.0 * density * (value - around.left(i));
    sum.hessian(cut, around.level(i + 1)) += right;
    sum.hessian(around.level(i + 1), cut) += right;
    sum.hessian(cut, level) += left;
    sum.hessian(level, cut) += left;
  }
}

}  // namespace fewbit::solver
