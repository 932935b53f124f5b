#pragma once

#include <vector>

#include "expression/derivative.hpp"
#include "table/table.hpp"

namespace fewbit::solver {

/// One place where the smoothed error is measured: e = q - f' convolved with N(0, spread^2), taken
/// at `mean`, counted with `mass`.
struct SmoothingNode {
  double mean;
  double spread;
  double mass;
  bool operator==(const SmoothingNode&) const = default;
};

/// q(x) = levels[codes[i]] on the i-th interval, thresholds on x itself (never on |x|).
struct StepFunction {
  std::vector<double> thresholds;
  std::vector<int> codes;
  std::vector<double> levels;
  bool operator==(const StepFunction&) const = default;
};

/// How single units scatter under a weight of the whole layer; masses sum to 1.
///   normal     unit means ~ N(mean, sigma^2 (1 - tau^2)), spread tau sigma
///   mixture    the same for every sigma, averaged over log sigma
///   laplace    the same for every sigma of the normals that it is a mixture of
///   student-t  likewise, with more than 2 degrees: with fewer there is no second moment to share
///              out; sigmas are left out where no more than exp(-tail) of the peak of their
///              density is left, which is enough while e stays bounded
///   histogram  with units: one node per unit (tau is not used)
///              without: the histogram shrunk about its mean by sqrt(1 - tau^2), spread tau times
///              its standard deviation
///   samples    likewise, with single values in the place of bins
/// Sums over the nodes equal the integrals to 1e-11 of b^2 even where smoothing leaves a thousandth
/// of e; exp(-tail) is what the rules for normal inputs leave out. Throws Error for tau outside
/// [0.01, 1], and for a weight without units (uniform, student-t with at most 2 degrees), unless
/// `fallback` puts normal(0, 1) in its place.
std::vector<SmoothingNode> smoothing_nodes(const WeightSpec& weight, double tau,
                                           bool fallback = false, double tail = 36.0);

/// The part of the axis on which the nodes see f'.
Domain smoothing_reach(const std::vector<SmoothingNode>& nodes);

/// f' convolved with N(0, spread^2) at every node: computed once, used for any number of tables.
class SmoothedDerivative {
 public:
  /// f' is taken on the whole reach of the nodes, beyond any domain. Throws Error where f is not
  /// finite or not differentiable there.
  SmoothedDerivative(const Expression& f, std::vector<SmoothingNode> nodes);

  const std::vector<SmoothingNode>& nodes() const { return nodes_; }
  const std::vector<double>& values() const { return values_; }
  const Derivative& derivative() const { return derivative_; }

 private:
  std::vector<SmoothingNode> nodes_;
  Derivative derivative_;
  std::vector<double> values_;
};

/// The step function of a table that has one (Form::unbiased: throws Error), Symmetry::even
/// unfolded.
StepFunction step_function_of(const Table& table);

/// J0 = sqrt(sum of mass b^2), b = (q * N(0, spread^2))(mean) - (f' * N(0, spread^2))(mean), on the
/// whole axis. Form::unbiased: q is its expectation, f' clamped to the outer levels.
double rms_smoothed_bias(const Table& table, const Expression& f,
                         const std::vector<SmoothingNode>& nodes);
double rms_smoothed_bias(const Table& table, const SmoothedDerivative& target);
double rms_smoothed_bias(const StepFunction& step, const SmoothedDerivative& target);

}  // namespace fewbit::solver
