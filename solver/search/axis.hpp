#pragma once

#include <cstddef>
#include <vector>

#include "search/moments.hpp"

namespace fewbit::solver {

/// Where a cut may lie, and what has been passed up to there.
struct Border {
  double position;
  double value;  ///< on the axis of values: the position less the centre
  Moments prefix;
};

/// A line on which a table is a sequence of segments: the x axis (form `intervals`) or the axis of
/// the values of f' (forms `levels` and `unbiased`). Programs, refinement and Newton's method see
/// only this. value() and the moments are of f' less PrefixIntegral::center(); positions are not.
class Axis {
 public:
  virtual ~Axis() = default;

  virtual double lo() const = 0;
  virtual double hi() const = 0;

  /// Moments of all that lies up to `position`, `position` itself included.
  virtual Moments prefix(double position) const = 0;

  virtual Border border(double position) const = 0;

  /// Largest minus smallest value of f' on [a, b].
  virtual double swing(double a, double b) const = 0;

  /// f' does not turn between a and b.
  virtual bool is_monotone(double a, double b) const = 0;

  /// Value of f' at a cut, its rate of change, and the mass per length there.
  virtual double value(double position) const = 0;
  virtual double slope(double position) const = 0;
  virtual double density(double position) const = 0;

  /// A cut at `position` is a strict corner: f' jumps across `level` there.
  virtual bool jumps_across(double position, double level) const = 0;

  /// About `count` cells of equal rounding cost, in order; first border lo, last border hi. Points
  /// that carry mass are cells of no width, so that two borders share their position.
  virtual std::vector<Border> first_borders(size_t count) const = 0;
};

}  // namespace fewbit::solver
