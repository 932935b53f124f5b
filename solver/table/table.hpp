#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fewbit::solver {

using NamedValue = std::pair<std::string, double>;

/// An activation as a table's file keeps it: enough to parse and solve it again.
struct FunctionSpec {
  std::string name;
  std::vector<NamedValue> parameters;  ///< all of them, with their values, in declared order
  std::string expression;              ///< in terms of x and the parameters' names
  bool operator==(const FunctionSpec&) const = default;
};

/// The fluctuation of one unit's pre-activation: x scatters around `mean` with `spread`.
struct UnitSpec {
  double mean;
  double spread;
  double mass;  ///< share of the unit; the masses of all units sum to 1
  bool operator==(const UnitSpec&) const = default;
};

/// The density w of the inputs.
///   uniform                       density 1
///   normal     mean, sigma        probability density
///   mixture    sigma_min, sigma_max   zero-mean normals, log sigma uniform; probability density
///   laplace    mean, scale        probability density, falling by e for each scale from the mean
///   student-t  mean, scale, degrees   probability density of mean + scale t; moments need not
///   exist histogram                     piecewise constant probability density: `masses[i]` (sum
///   1) over
///                                 [edges[i], edges[i+1]]; `units` where the data told them apart
///   samples                       no density: `masses[i]` (sum 1) at the one point `values[i]`;
///                                 `units` likewise
struct WeightSpec {
  std::string kind = "uniform";
  std::vector<NamedValue> parameters;
  std::vector<double> edges;
  std::vector<double> masses;
  std::vector<UnitSpec> units;
  std::vector<double> values{};  ///< ascending

  /// The inputs are single values: integrals of w are sums over them.
  bool is_discrete() const { return kind == "samples"; }
  bool operator==(const WeightSpec&) const = default;
};

enum class Form { intervals, levels, unbiased };
enum class Symmetry { none, even };
enum class DataType { exact, fp32, bf16, fp16 };

/// `squared`: the integral of w (f' - q)^2. `smoothed`: the training objective of README.md.
struct Objective {
  bool smoothed = false;
  double tau = 0.83;
  double lambda = 1e-3;
  bool operator==(const Objective&) const = default;
};

struct Domain {
  double lo = -10.0;
  double hi = 10.0;
  bool operator==(const Domain&) const = default;
};

/// What was asked for.
struct Problem {
  FunctionSpec function;
  Form form = Form::levels;
  Objective objective;
  int levels = 8;  ///< 2 to 256; the most levels the table may have
  Domain domain;
  WeightSpec weight;
  DataType dtype = DataType::exact;
  bool operator==(const Problem&) const = default;
};

/// A few-bit derivative: q(x) = levels[codes[i]] on the i-th interval. Interval i is
/// (thresholds[i-1], thresholds[i]]: open on the left, closed on the right, the first and the last
/// without end. With Symmetry::even the thresholds are positive and cut |x| instead of x. Levels
/// ascend and differ. Form::unbiased has neither thresholds nor codes: x takes one of the two
/// levels around f'(x) at random so that the expectation is f'(x).
struct Table {
  Problem problem;
  Symmetry symmetry = Symmetry::none;
  std::vector<double> thresholds;
  std::vector<int> codes;
  std::vector<double> levels;
  double error = 0.0;          ///< attained: integral of w (f' - q)^2 over the domain
  double lower_bound = 0.0;    ///< no table of this form and size has a smaller `error`
  double relative_gap = 0.0;   ///< (error - lower_bound) / error, 0 where error is 0
  double residual = 0.0;       ///< largest violation of the optimality conditions, see README.md
  double smoothed_bias = 0.0;  ///< rms of (q - f') smoothed over each unit's own scatter
  std::string solver;          ///< version that found the table

  /// Bits per stored code: the least b with levels.size() <= 2^b, at least 1.
  int bits() const;

  /// Interval index of x (NaN: 0); codes[interval_of(x)] is its code. Not for Form::unbiased.
  size_t interval_of(double x) const;

  bool operator==(const Table&) const = default;
};

const char* to_string(Form form);
const char* to_string(Symmetry symmetry);
const char* to_string(DataType dtype);

}  // namespace fewbit::solver
