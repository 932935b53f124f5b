#pragma once

#include <algorithm>
#include <vector>

#include "verify/value_measure.hpp"

namespace fewbit::solver {

/// A place where a cut may be made, with the moments of everything before it.
struct LinePoint {
  double at;
  AxisMoments before;
  int stretch_left = 0;   ///< stretches on which f' is monotone are numbered along the line:
  int stretch_right = 0;  ///< the one that ends here or goes on, and the one that starts here
};

/// What the bound needs to know of a problem: an ordered set to be cut into consecutive parts, on x
/// (form intervals) or on the values f'(x) (levels, unbiased).
class Line {
 public:
  virtual ~Line() = default;

  /// First and last point and those that a cell must not contain, in order: kinks and turning
  /// points of f'. Two points may lie at one place, with an atom between them.
  virtual std::vector<LinePoint> fixed_points() const = 0;

  virtual LinePoint point(double at) const = 0;

  /// The value about which the points' moments are taken.
  virtual double center() const = 0;

  /// f' is monotone all along the line.
  virtual bool monotone() const = 0;

  /// How far f' swings between two points.
  virtual double swing(const LinePoint& a, const LinePoint& b) const = 0;
};

class XLine : public Line {
 public:
  explicit XLine(const InputAxis& axis);
  std::vector<LinePoint> fixed_points() const override;
  LinePoint point(double at) const override;
  double center() const override { return axis_.center(); }
  bool monotone() const override { return turns_.empty(); }
  double swing(const LinePoint& a, const LinePoint& b) const override {
    const auto [smallest, largest] = axis_.range(a.at, b.at);
    return std::max(0.0, largest - smallest);
  }

 private:
  const InputAxis& axis_;
  std::vector<double> turns_;  ///< where f' changes its direction
};

class ValueLine : public Line {
 public:
  explicit ValueLine(const ValueMeasure& values) : values_(values) {}
  std::vector<LinePoint> fixed_points() const override;
  LinePoint point(double at) const override { return {at, values_.below(at, true), 0, 0}; }
  double center() const override { return values_.center(); }
  bool monotone() const override { return true; }
  double swing(const LinePoint& a, const LinePoint& b) const override { return b.at - a.at; }

 private:
  const ValueMeasure& values_;
};

}  // namespace fewbit::solver
