#pragma once

#include <vector>

#include "verify/axis.hpp"

namespace fewbit::solver {
inline namespace verification {

/// The distribution of the values f'(x) under the density of `axis`.
class ValueMeasure {
 public:
  explicit ValueMeasure(const Axis& axis);

  double lowest() const { return lowest_; }
  double highest() const { return highest_; }

  /// Values that a stretch of positive length takes, ascending: they carry mass of their own.
  const std::vector<double>& atoms() const { return atoms_; }

  double center() const { return axis_.center(); }

  /// Moments about center() of the values below `value`, those equal to it included or not
  /// (only an atom makes a difference).
  Moments below(double value, bool inclusive) const;

 private:
  struct Part {
    Branch branch;
    Moments before;  ///< axis.upto(branch.lo)
    Moments after;   ///< axis.upto(branch.hi)
  };

  const Axis& axis_;
  std::vector<Part> parts_;
  std::vector<double> atoms_;
  double lowest_;
  double highest_;
};

}  // namespace verification
}  // namespace fewbit::solver
