#pragma once

#include <memory>

#include "expression/derivative.hpp"
#include "search/prefix_integral.hpp"
#include "table/table.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

/// A function and a weight on a finite stretch of the axis, integrated once; everything about one
/// (function, weight, domain) is derived from it. `folded`: the axis is |x| and the weight is
/// w(x) + w(-x).
class Setting {
 public:
  /// Throws Error where the domain is reversed, not a number or infinite under a weight that is not
  /// integrable, where no mass lies in it, or where f' is not finite or constant.
  Setting(const FunctionSpec& function, const WeightSpec& weight, const Domain& domain,
          bool folded);

  /// f' is even and the domain has 0 inside, so that folding loses nothing for `levels`.
  static bool can_fold(const FunctionSpec& function, const WeightSpec& weight,
                       const Domain& domain);

  const Expression& expression() const { return *expression_; }
  const Derivative& derivative() const { return *derivative_; }
  const Weight& weight() const { return *weight_; }
  const PrefixIntegral& integral() const { return *integral_; }
  bool folded() const { return folded_; }
  double range() const { return derivative_->max_value() - derivative_->min_value(); }

 private:
  bool folded_;
  std::unique_ptr<Expression> expression_;
  std::unique_ptr<Derivative> derivative_;
  std::shared_ptr<const Weight> weight_;
  std::unique_ptr<PrefixIntegral> integral_;
};

/// The finite part of `domain` that holds all of the weight that matters.
Domain effective_domain(const Domain& domain, const Weight& weight);

}  // namespace fewbit::solver
