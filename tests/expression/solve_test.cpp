// Derivative::solve() finds the place of a value to the last bits, however narrow the feature is
// beside its branch.

#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expression/derivative.hpp"

namespace fewbit::solver::solve_test {

TEST(Solve, FindsNarrowFeaturesOnWideBranches) {
  for (const char* shape : {"atan(s*(x - c))/s", "log1p(exp(s*(x - c)))/s", "erf(s*(x - c))/s",
                            "log1p((s*(x - c))^2)/s", "tanh(s*(x - c))/s"}) {
    for (const double steepness : {1.0, 1e2, 1e4, 1e6, 1e8, 1e11}) {
      const Derivative derivative(Expression::parse(shape, {{"s", steepness}, {"c", 0.00113652}}),
                                  -1.0, 1.0);
      for (const Branch& branch : derivative.branches()) {
        if (branch.direction == 0) continue;
        for (int k = 1; k < 64; ++k) {
          const double share = k / 64.0;
          const double value = branch.value_lo + share * (branch.value_hi - branch.value_lo);
          const double x = derivative.solve(branch, value);
          const double slope = derivative.slope(x, branch.piece);
          const double resolved = 1e-15 + 8e-16 * std::abs(x * slope);
          EXPECT_NEAR(derivative.value(x, branch.piece), value, resolved)
              << fmt::format("{}, s = {}, x = {}", shape, steepness, x);
        }
      }
    }
  }
}

}  // namespace fewbit::solver::solve_test
