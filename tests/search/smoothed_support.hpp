#pragma once

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "search/smoothed.hpp"
#include "search/smoothed_objective.hpp"

namespace fewbit::solver::test {

inline constexpr double kTau = 0.83;
inline constexpr double kLambda = 1e-3;

inline Expression gelu() {
  return Expression::parse("x*normcdf(x)");
}
inline Expression silu() {
  return Expression::parse("x*sigmoid(x)");
}
inline Expression relu() {
  return Expression::parse("max(x, 0)");
}
inline Expression hyperbolic_tangent() {
  return Expression::parse("tanh(x)");
}

inline WeightSpec normal(double mean, double sigma) {
  WeightSpec spec;
  spec.kind = "normal";
  spec.parameters = {{"mean", mean}, {"sigma", sigma}};
  return spec;
}

inline WeightSpec mixture(double sigma_min, double sigma_max) {
  WeightSpec spec;
  spec.kind = "mixture";
  spec.parameters = {{"sigma_min", sigma_min}, {"sigma_max", sigma_max}};
  return spec;
}

inline WeightSpec histogram(std::vector<double> edges, std::vector<double> masses) {
  WeightSpec spec;
  spec.kind = "histogram";
  spec.edges = std::move(edges);
  spec.masses = std::move(masses);
  return spec;
}

inline double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

inline double normal_density(double z) {
  return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
}

/// Two intervals, levels 0 and 1.
inline StepFunction one_bit(double threshold) {
  return {{threshold}, {0, 1}, {0.0, 1.0}};
}

/// `count` intervals that cut [-reach, reach] evenly, each with a level of its own.
inline StepFunction staircase(int count, double reach) {
  StepFunction step;
  for (int i = 0; i < count; ++i) {
    if (i > 0) step.thresholds.push_back(reach * (2.0 * i / count - 1.0));
    step.codes.push_back(i);
    step.levels.push_back(static_cast<double>(i) / (count - 1));
  }
  return step;
}

/// Everything that one smoothed problem needs, on the domain [-10, 10].
struct SmoothedCase {
  SmoothedCase(const Expression& function, const WeightSpec& spec, double lambda = kLambda)
      : f(function),
        weight(make_weight(spec)),
        nodes(smoothing_nodes(spec, kTau)),
        target(f, nodes),
        derivative(f, std::max(domain.lo, weight->support().lo),
                   std::min(domain.hi, weight->support().hi)),
        moments(derivative, *weight),
        objective(target, moments, lambda),
        lambda_used(lambda) {}

  StepFunction minimise(const std::vector<StepFunction>& starts, int max_levels) const {
    return minimise_smoothed(f, *weight, domain, lambda_used, nodes, starts, max_levels).step;
  }

  double squared_error(const StepFunction& step) const {
    const double bias = rms_smoothed_bias(step, target);
    return (objective.value(step) - bias * bias) / lambda_used;
  }

  Expression f;
  Domain domain;
  std::unique_ptr<Weight> weight;
  std::vector<SmoothingNode> nodes;
  SmoothedDerivative target;
  Derivative derivative;
  PrefixIntegral moments;
  SmoothedObjective objective;
  double lambda_used;
};

}  // namespace fewbit::solver::test
