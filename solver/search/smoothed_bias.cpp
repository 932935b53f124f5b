#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "search/smoothed_convolution.hpp"
#include "search/smoothing_model.hpp"

namespace fewbit::solver {
namespace {

double normcdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double smooth_at(const StepFunction& step, const SmoothingNode& node) {
  double sum = step.levels[static_cast<size_t>(step.codes.back())];
  for (size_t i = 0; i < step.thresholds.size(); ++i) {
    const double left = step.levels[static_cast<size_t>(step.codes[i])];
    const double right = step.levels[static_cast<size_t>(step.codes[i + 1])];
    sum -= (right - left) * normcdf((step.thresholds[i] - node.mean) / node.spread);
  }
  return sum;
}

// Rounding of sums of levels is no bias: the same files on every machine.
constexpr double kNoSpread = 1e-14;

double rms(const std::vector<SmoothingNode>& nodes, const std::vector<double>& bias,
           const std::vector<double>& levels) {
  double sum = 0.0;
  for (size_t j = 0; j < nodes.size(); ++j) sum += nodes[j].mass * bias[j] * bias[j];
  const double largest = std::max(std::abs(levels.front()), std::abs(levels.back()));
  return sum < std::pow(kNoSpread * largest, 2) ? 0.0 : std::sqrt(sum);
}

// Where f' crosses `level`.
void append_crossings(const Derivative& derivative, double level, std::vector<double>& out) {
  for (const Branch& branch : derivative.branches()) {
    const auto [lowest, highest] = std::minmax(branch.value_lo, branch.value_hi);
    if (branch.direction != 0 && lowest < level && level < highest) {
      out.push_back(derivative.solve(branch, level));
    }
  }
}

std::vector<Stretch> split_stretches(const std::vector<Stretch>& stretches,
                                     std::vector<double> cuts) {
  std::sort(cuts.begin(), cuts.end());
  std::vector<Stretch> result;
  for (Stretch stretch : stretches) {
    for (const double cut : cuts) {
      if (cut <= stretch.lo || cut >= stretch.hi) continue;
      result.push_back({stretch.lo, cut, stretch.piece, stretch.error});
      stretch.lo = cut;
    }
    result.push_back(stretch);
  }
  return result;
}

// A random level between two neighbours has the right mean wherever f' lies between the outer
// levels; what remains is f' beyond them, outside of the domain.
double rms_bias_of_expectation(const Table& table, const SmoothedDerivative& target) {
  const double lowest = table.levels.front();
  const double highest = table.levels.back();
  std::vector<double> cuts;
  append_crossings(target.derivative(), lowest, cuts);
  append_crossings(target.derivative(), highest, cuts);
  const auto stretches =
      split_stretches(convolution_stretches(target.derivative(), target.nodes()), std::move(cuts));
  const auto missing = [&](std::span<double> values) {
    for (double& value : values) value = std::clamp(value, lowest, highest) - value;
  };
  return rms(target.nodes(), convolve(target.derivative(), stretches, target.nodes(), missing),
             table.levels);
}

}  // namespace

StepFunction step_function_of(const Table& table) {
  if (table.problem.form == Form::unbiased) {
    throw Error("an unbiased table draws its levels, it is no step function", {}, "form");
  }
  StepFunction step{table.thresholds, table.codes, table.levels};
  if (table.symmetry == Symmetry::even) {
    step.thresholds.clear();
    step.codes.clear();
    for (size_t i = table.thresholds.size(); i-- > 0;) {
      step.thresholds.push_back(-table.thresholds[i]);
    }
    for (size_t i = table.codes.size(); i-- > 1;) step.codes.push_back(table.codes[i]);
    step.thresholds.insert(step.thresholds.end(), table.thresholds.begin(), table.thresholds.end());
    step.codes.insert(step.codes.end(), table.codes.begin(), table.codes.end());
  }
  return step;
}

double rms_smoothed_bias(const StepFunction& step, const SmoothedDerivative& target) {
  std::vector<double> bias;
  bias.reserve(target.nodes().size());
  for (size_t j = 0; j < target.nodes().size(); ++j) {
    bias.push_back(smooth_at(step, target.nodes()[j]) - target.values()[j]);
  }
  return rms(target.nodes(), bias, step.levels);
}

double rms_smoothed_bias(const Table& table, const SmoothedDerivative& target) {
  if (table.problem.form == Form::unbiased) return rms_bias_of_expectation(table, target);
  return rms_smoothed_bias(step_function_of(table), target);
}

double rms_smoothed_bias(const Table& table, const Expression& f,
                         const std::vector<SmoothingNode>& nodes) {
  return rms_smoothed_bias(table, SmoothedDerivative(f, nodes));
}

}  // namespace fewbit::solver
