// Newton's method on the projected objective with Levenberg's damping (Nocedal and Wright,
// "Numerical Optimization", chapters 3 and 10). Quadratic convergence near a minimum; away from it
// the damping makes the matrix positive definite and the step short enough to go down.
// Invariant: the objective of `step` never rises, and its thresholds ascend strictly.
#include "search/smoothed_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "search/smoothed_pattern.hpp"

namespace fewbit::solver {
namespace {

constexpr double kLargestDamping = 1e10;
constexpr double kNegligible = 1e-15;  // of the objective, for what a step may still gain
constexpr int kPatience = 4;      // creeping along corners of a histogram's weight is no valley
constexpr double kPolish = 1e-3;  // of a spread: shorter steps of settle() must go on to shrink
constexpr int kFreeSteps = 10;  // of settle() that may pass corners: there are many in a histogram
constexpr double kVanishing = 1e-3;  // of a spread: a narrower interval is taken away
constexpr double kShareOfGap = 0.8;  // how much of an interval one step may consume

double narrowest_spread(const SmoothedObjective& objective) {
  double result = objective.target().nodes().front().spread;
  for (const SmoothingNode& node : objective.target().nodes()) {
    result = std::min(result, node.spread);
  }
  return result;
}

// Beyond both the nodes' reach and the domain of the squared error a threshold changes nothing.
Domain seen_by(const SmoothedObjective& objective) {
  const Domain reach = smoothing_reach(objective.target().nodes());
  const Derivative& derivative = objective.moments().derivative();
  return {std::min(reach.lo, derivative.lo()), std::max(reach.hi, derivative.hi())};
}

// The largest share of `move` that keeps the order and stays within a trusted length.
double share_allowed(const std::vector<double>& thresholds, const Eigen::VectorXd& move,
                     double trusted) {
  double share = std::min(1.0, trusted / std::max(move.cwiseAbs().maxCoeff(), 1e-300));
  for (size_t i = 0; i + 1 < thresholds.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    const double closing = move(at) - move(at + 1);
    const double gap = thresholds[i + 1] - thresholds[i];
    if (closing * share > kShareOfGap * gap) share = kShareOfGap * gap / closing;
  }
  return share;
}

bool ascends(const std::vector<double>& thresholds) {
  return std::adjacent_find(thresholds.begin(), thresholds.end(),
                            [](double a, double b) { return !(a < b); }) == thresholds.end();
}

class Descent {
 public:
  Descent(const SmoothedObjective& objective, StepFunction& step, const DescentRules& rules)
      : objective_(objective),
        step_(step),
        rules_(rules),
        narrowest_(narrowest_spread(objective)),
        seen_(seen_by(objective)),
        value_(objective.fit_levels(step)) {}

  double value() const { return value_; }

  /// One accepted step; false when there is nothing left to gain.
  bool advance() {
    const SmoothedObjective::Expansion at = expand();
    for (; damping_ < kLargestDamping; damping_ = std::max(8.0 * damping_, 1e-3)) {
      Eigen::MatrixXd matrix = at.hessian;
      matrix.diagonal() += damping_ * at.scale;
      const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
      if (factor.info() != Eigen::Success) continue;
      const Eigen::VectorXd move = factor.solve(-at.gradient);
      const double gain = -at.gradient.dot(move);
      if (!(gain > kNegligible * value_)) return false;
      if (try_move(move, gain)) {
        damping_ = damping_ < 1e-4 ? 0.0 : 0.2 * damping_;
        return true;
      }
    }
    return false;
  }

  /// Takes an interval away that has shrunk to nothing or lies where nobody looks, unless that
  /// costs; true when one went.
  bool drop_vanished() {
    for (size_t i = 0; i < step_.codes.size() && step_.thresholds.size() > (rules_.even ? 2u : 1u);
         ++i) {
      if (!is_vanished(i)) continue;
      StepFunction without = step_;
      rules_.even ? remove_even_interval(without, i) : remove_interval(without, i);
      if (without.thresholds.empty()) continue;
      const double value = objective_.fit_levels(without);
      if (value > value_) continue;
      step_ = std::move(without);
      value_ = value;
      return true;
    }
    return false;
  }

  /// One step of Newton's method, whether the objective is too flat to show a gain or not; true
  /// while there is somewhere to go. A `free` step may pass corners of the objective.
  bool settle(bool free) {
    const SmoothedObjective::Expansion at = expand_with_corners();
    for (double damping = 0.0; damping < kLargestDamping; damping = std::max(8.0 * damping, 1e-6)) {
      Eigen::MatrixXd matrix = at.hessian;
      matrix.diagonal() += damping * at.scale;
      const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
      if (factor.info() != Eigen::Success) continue;
      const Eigen::VectorXd move = factor.solve(-at.gradient);
      const double length = move.cwiseAbs().maxCoeff();
      if (damping == 0.0 && !(length < 0.5 * shortest_)) return false;
      if (!(free && try_settling(move, false)) && !try_settling(move, true)) continue;
      // Damped steps, and those that come to a corner, say nothing of the next one's length.
      const bool plain = damping == 0.0 && !passes_ && length < kPolish * narrowest_;
      shortest_ = plain ? length : std::numeric_limits<double>::infinity();
      return true;
    }
    return false;
  }

  /// The longest move that Newton's method would still make; of the least damped one that exists
  /// where the objective is not convex.
  double remaining() const {
    const SmoothedObjective::Expansion at = expand_with_corners();
    for (double damping = 0.0;; damping = std::max(8.0 * damping, 1e-6)) {
      Eigen::MatrixXd matrix = at.hessian;
      matrix.diagonal() += damping * at.scale;
      const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
      if (factor.info() == Eigen::Success) {
        return factor.solve(at.gradient).cwiseAbs().maxCoeff();
      }
      if (!(damping < kLargestDamping)) return narrowest_;
    }
  }

 private:
  // Held thresholds have no slope and no coupling.
  SmoothedObjective::Expansion expand() const {
    SmoothedObjective::Expansion at = objective_.expand(step_);
    if (!rules_.hold_jumps) return at;
    for (size_t i = 0; i < step_.thresholds.size(); ++i) {
      const auto& jumps = objective_.jumps();
      if (!std::binary_search(jumps.begin(), jumps.end(), step_.thresholds[i])) continue;
      hold(at, static_cast<Eigen::Index>(i));
    }
    return at;
  }

  // A threshold at a corner of the objective stays unless the objective falls to one side.
  SmoothedObjective::Expansion expand_with_corners() const {
    SmoothedObjective::Expansion at = objective_.expand(step_);
    for (Eigen::Index i = 0; i < at.gradient.size(); ++i) {
      if (at.fall(i) == at.rise(i)) continue;
      if (at.fall(i) <= 0.0 && at.rise(i) >= 0.0) {
        hold(at, i);
      } else {
        at.gradient(i) = at.fall(i) > 0.0 ? at.fall(i) : at.rise(i);
      }
    }
    return at;
  }

  static void hold(SmoothedObjective::Expansion& at, Eigen::Index i) {
    at.gradient(i) = 0.0;
    at.hessian.row(i).setZero();
    at.hessian.col(i).setZero();
    at.hessian(i, i) = at.scale(i);
  }

  // Up to rounding the objective must not rise, and something must change.
  bool try_settling(const Eigen::VectorXd& move, bool stop_at_corners) {
    StepFunction next = step_;
    shift(next, move, share_allowed(step_.thresholds, move, 4.0 * narrowest_));
    const std::vector<double> wanted = next.thresholds;
    stop(next);
    passes_ = next.thresholds != wanted;
    if (!stop_at_corners) next.thresholds = wanted;
    if (next.thresholds == step_.thresholds || !ascends(next.thresholds)) return false;
    const double value = objective_.fit_levels(next);
    if (value > value_ * (1.0 + 1e-12) + objective_.rounding(value_)) return false;
    step_ = std::move(next);
    value_ = std::min(value, value_);
    return true;
  }

  // Thresholds that would pass a corner stop there.
  void stop(StepFunction& next) const {
    const std::vector<double>& corners = objective_.corners();
    for (size_t i = 0; i < next.thresholds.size(); ++i) {
      const double from = step_.thresholds[i];
      double& to = next.thresholds[i];
      const auto above = std::upper_bound(corners.begin(), corners.end(), from);
      if (above != corners.end() && to > *above) to = *above;
      const auto below = std::lower_bound(corners.begin(), corners.end(), from);
      if (below != corners.begin() && to < *std::prev(below)) to = *std::prev(below);
    }
  }

  void shift(StepFunction& step, const Eigen::VectorXd& move, double share) const {
    for (size_t i = 0; i < step.thresholds.size(); ++i) {
      step.thresholds[i] += share * move(static_cast<Eigen::Index>(i));
    }
    if (rules_.even) make_even(step);
  }

  bool is_vanished(size_t interval) const {
    const auto& thresholds = step_.thresholds;
    if (interval == 0) return thresholds.front() < seen_.lo;
    if (interval == thresholds.size()) return thresholds.back() > seen_.hi;
    return thresholds[interval] - thresholds[interval - 1] < kVanishing * narrowest_;
  }

  bool try_move(const Eigen::VectorXd& move, double gain) {
    const double share = share_allowed(step_.thresholds, move, 4.0 * narrowest_);
    StepFunction next = step_;
    shift(next, move, share);
    if (!ascends(next.thresholds)) return false;
    const double value = objective_.fit_levels(next);
    if (!(value < value_ - 1e-4 * share * gain)) return false;
    step_ = std::move(next);
    value_ = value;
    return true;
  }

  const SmoothedObjective& objective_;
  StepFunction& step_;
  DescentRules rules_;
  double narrowest_;
  Domain seen_;
  double value_;
  double damping_ = 0.0;
  double shortest_ = std::numeric_limits<double>::infinity();  ///< move of settle()
  bool passes_ = false;  ///< the last move that settle() tried leads past a corner
};

}  // namespace

double descend(const SmoothedObjective& objective, StepFunction& step, const DescentRules& rules) {
  Descent descent(objective, step, rules);
  int creeping = 0;
  for (int i = 0; i < rules.max_steps && creeping < kPatience; ++i) {
    const double before = descent.value();
    const bool moved = descent.advance();
    const bool dropped = descent.drop_vanished();
    if (!moved && !dropped) break;
    creeping = before - descent.value() < rules.creeping * before ? creeping + 1 : 0;
  }
  return descent.value();
}

double settle(const SmoothedObjective& objective, StepFunction& step, bool even, int steps) {
  Descent descent(objective, step, {.even = even});
  for (int i = 0; i < steps && descent.settle(i < kFreeSteps); ++i) descent.drop_vanished();
  return descent.remaining();
}

}  // namespace fewbit::solver
