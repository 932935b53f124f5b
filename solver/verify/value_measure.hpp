#pragma once

#include <vector>

#include "verify/axis.hpp"

namespace fewbit::solver {

/// The distribution of the values f'(x) under the density of `axis`.
class ValueMeasure {
 public:
  explicit ValueMeasure(const InputAxis& axis);

  double lowest() const { return lowest_; }
  double highest() const { return highest_; }

  /// Values that a stretch of positive length takes, ascending: they carry mass of their own.
  const std::vector<double>& atoms() const { return atoms_; }

  double center() const { return axis_.center(); }

  /// Moments about center() of the values below `value`, those equal to it included or not
  /// (only an atom makes a difference).
  AxisMoments below(double value, bool inclusive) const;

 private:
  struct Part {
    Branch branch;
    AxisMoments before;  ///< axis.upto(branch.lo)
    AxisMoments after;   ///< axis.upto(branch.hi)
  };

  const InputAxis& axis_;
  std::vector<Part> parts_;
  std::vector<double> atoms_;
  double lowest_;
  double highest_;
};

}  // namespace fewbit::solver
