#pragma once

#include <span>
#include <string>
#include <vector>

#include "expression/pieces.hpp"

namespace fewbit::bench {

/// f and f' of a function of the registry in double, with its default parameters as floats, on
/// [-32, 32]. The expression's own evaluation is a few roundings of double off (tests/functions),
/// which is 1e-5 ulp of float even in the tails; the two expressions that cancel (gelu_tanh,
/// tanhshrink) are replaced by equal ones that do not. The test compares both with 50 digits.
class Reference {
 public:
  /// Throws Error for a name that the registry does not have.
  explicit Reference(const std::string& function);

  /// value[i] = f(x[i]) and slope[i] = f'(x[i]); NaN for f' at a kink, where there is none.
  void operator()(std::span<const float> x, std::span<double> value, std::span<double> slope) const;

 private:
  void evaluate_one(double x, double& value, double& slope) const;

  solver::Expression whole_;
  std::vector<solver::Piece> pieces_;
};

}  // namespace fewbit::bench
