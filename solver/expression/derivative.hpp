#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "expression/expression.hpp"
#include "expression/interval.hpp"
#include "expression/jet.hpp"
#include "expression/taylor_bounds.hpp"

namespace fewbit::solver {

/// A stretch of the axis on which f' is monotone (direction +1 or -1), or so flat that its swing is
/// below rounding (direction 0). Certified by interval bounds of f''.
struct Branch {
  double lo;
  double hi;
  double value_lo;  ///< f' at lo, taken from inside
  double value_hi;  ///< f' at hi, taken from inside
  int direction;
  size_t piece;
};

/// A stretch within a piece on which f' is a polynomial of low degree but for `error`
/// (stretches.hpp).
struct Stretch {
  double lo;
  double hi;
  size_t piece;
  double error;
};

/// f' on the finite interval [lo, hi], cut into pieces at the kinks of f. Within a piece all
/// conditions are decided, so f is smooth there and one-sided values at its ends are exact. Parts
/// of f without x are rounded to double once; bounds enclose what remains.
class Derivative {
 public:
  /// Throws Error naming the x where f, f' or f'' is not finite, and where f' reaches magnitudes
  /// whose squares leave the range of a double. A jump of f at a condition (`threshold`,
  /// `hardshrink`) is allowed: the derivative is the one of the branches.
  Derivative(const Expression& f, double lo, double hi);

  double lo() const { return borders_.front(); }
  double hi() const { return borders_.back(); }

  /// lo, the kinks in (lo, hi), hi.
  const std::vector<double>& borders() const { return borders_; }
  size_t piece_count() const { return pieces_.size(); }

  /// The piece that holds x; a kink belongs to the piece on its left.
  size_t piece_of(double x) const;

  /// f'(x) and f''(x); at a kink those of the piece on its left.
  double value(double x) const { return value(x, piece_of(x)); }
  double slope(double x) const { return slope(x, piece_of(x)); }
  double value(double x, size_t piece) const;
  double slope(double x, size_t piece) const;

  /// f' (and, where `slopes` is not empty, f'') at many points of one piece: the fast path.
  void evaluate(std::span<const double> x, size_t piece, std::span<double> values,
                std::span<double> slopes = {}) const;

  /// Encloses f' on [a, b] within one piece; the width is O(b - a) with the true slope as constant.
  Interval bounds(double a, double b, size_t piece) const;
  /// Encloses f'' on [a, b] within one piece.
  Interval slope_bounds(double a, double b, size_t piece) const;
  /// The same, narrower where terms cancel; the width is O((b - a)^2) beside the true swing.
  /// Slower, but where f'' is soon seen to stay above `clear`, or below -clear.
  Interval tight_slope_bounds(double a, double b, size_t piece, double clear = INFINITY) const;

  /// [j] is at least |j-th derivative of f'| / j! anywhere on [a, b] within one piece, j from 0 to
  /// kTaylorOrder - 1.
  TaylorBounds taylor(double a, double b, size_t piece) const;

  /// Maximal monotone or flat branches, in order, covering [lo, hi]; computed once.
  const std::vector<Branch>& branches() const { return branches_; }

  /// f' departs from the pattern of branches(), monotone or flat, by no more than this.
  double pattern_error() const { return pattern_error_; }

  /// Stretches in order, covering [lo, hi], on which points as dense as stretch_points() show all
  /// that f' does: their `error` is at rounding level, but at singularities of f'''.
  const std::vector<Stretch>& stretches() const { return stretches_; }

  /// The x in `branch` with f'(x) = value (value between value_lo and value_hi), to the last bit or
  /// two. Newton safeguarded by bisection.
  double solve(const Branch& branch, double value) const;

  /// Smallest and largest f' on [lo, hi].
  double min_value() const;
  double max_value() const;

  /// f' takes one value per piece: the exact table is a finite list.
  bool is_step_function() const;

 private:
  std::vector<double> borders_;
  std::vector<Expression> pieces_;
  std::vector<Branch> branches_;
  double pattern_error_ = 0.0;
  std::vector<Stretch> stretches_;
};

}  // namespace fewbit::solver
