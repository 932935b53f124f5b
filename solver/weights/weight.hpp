#pragma once

#include <array>
#include <memory>
#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {

/// A density w(x) >= 0 of inputs. Smooth between neighbouring `breaks`, zero outside `support`.
class Weight {
 public:
  virtual ~Weight() = default;

  virtual double density(double x) const = 0;

  /// The density on (lo, hi), where it is constant there. However few doubles lie between, none of
  /// the neighbouring bins is asked.
  virtual double density_between(double lo, double hi) const {
    return density(lo + 0.5 * (hi - lo));
  }

  /// At least |w(z)| for every complex z within `radius` of a point of [lo, hi], where w is
  /// continued from there; infinite where it cannot be. [lo, hi] lies between neighbouring breaks.
  virtual double largest_within(double lo, double hi, double radius) const = 0;

  /// Ends of the region that matters: outside of it w is zero or so small (less than 1e-20 of the
  /// mass) that nothing there can change a table. Infinite for `uniform`, and for a `student-t` so
  /// heavy that a part that counts lies beyond 1e100.
  virtual Domain support() const = 0;

  /// Ascending points inside the support where w or a derivative of w jumps. Empty when smooth.
  virtual std::vector<double> breaks() const { return {}; }

  /// The finest length over which w changes much: quadrature panels stay below a fraction of it.
  virtual double scale() const = 0;

  /// w(-x) == w(x) for all x.
  virtual bool is_even() const = 0;

  /// Constant between neighbouring breaks.
  virtual bool is_piecewise_constant() const { return false; }

  /// The integral over the support is finite, and so is the support: a domain may be infinite.
  virtual bool is_integrable() const = 0;
};

inline constexpr int kDensityOrder = 16;

/// [j] is at least |j-th derivative of w| / j! anywhere on [lo, hi], which lies between
/// neighbouring breaks: Cauchy's estimate on the best one of a few circles.
std::array<double, kDensityOrder + 1> density_bounds(const Weight& weight, double lo, double hi);

/// The least real part of z^2 / 2 for complex z within `radius` of a real number of magnitude
/// `least` or more: |exp(-z^2 / 2)| is at most exp of minus that.
double least_half_square(double least, double radius);

/// The density that `spec` describes; throws Error where parameters are missing, unknown or out of
/// range, edges do not ascend, or masses are negative, not finite or sum to nothing. Masses are
/// scaled to sum 1, so counts will do. Throws for the kind `samples` too, which has no density (see
/// discrete.hpp). Sigmas and scales reach from 1e-12 to 1e12, degrees from
/// 1e-3 to 1e9, edges to 1e100.
std::unique_ptr<Weight> make_weight(const WeightSpec& spec);

/// w(x) + w(-x) on x >= 0: the weight of |x|.
std::unique_ptr<Weight> fold_weight(std::shared_ptr<const Weight> weight);

/// The distance of 0 from [lo, hi].
double least_magnitude(double lo, double hi);

}  // namespace fewbit::solver
