#pragma once

#include <memory>
#include <vector>

#include "expression/derivative.hpp"
#include "table/table.hpp"

namespace fewbit::solver {

/// One value of the weight and f' there; at a jump of f' that of the left side, as codes compare
/// x > threshold.
struct DiscretePoint {
  double x;
  double mass;
  double value;
};

/// A function under a weight of single values.
class DiscreteSetting {
 public:
  /// Throws Error where f' is not finite in the domain or no mass lies there.
  explicit DiscreteSetting(const Problem& problem);

  const std::vector<DiscretePoint>& points() const { return points_; }  ///< by x

  /// f' is even and the domain has 0 inside, so that thresholds may cut |x|.
  bool can_fold() const { return even_ != nullptr; }

  /// f' over the domain, or over its |x|.
  const Derivative& derivative(bool folded) const { return folded ? *even_ : *plain_; }

  /// Largest less smallest f' at the points; 0 where all are alike.
  double range() const { return range_; }

  /// The largest true error of a table where sums say `computed`, and the smallest: rounding of f'
  /// is a function of its own that is added to q - f'.
  double above(double computed) const;
  double below(double computed) const;

 private:
  void fold(const Expression& expression);

  std::unique_ptr<Derivative> plain_;
  std::unique_ptr<Derivative> even_;
  std::vector<DiscretePoint> points_;
  double range_ = 0.0;
  bool coding_;
  double noise_ =
      0.0;  ///< the root of the sum of mass times the square of what rounding does to f'
  double coding_noise_ = 0.0;  ///< of Form::unbiased: that enters with the distance of two levels
};

}  // namespace fewbit::solver
