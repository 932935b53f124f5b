#include <algorithm>

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "tests/functions/every_function.hpp"

namespace fewbit::solver::branch_test {

constexpr double kEpsilon = 2.220446049250313e-16;

template <class Check>
void for_all_functions(const Check& check) {
  for (const std::string& name : every_function()) {
    for (const double end : {10.0, 36.0}) {
      SCOPED_TRACE(name + " to " + std::to_string(end));
      check(Derivative(expression_of(parse_function(name)), -end, end));
    }
  }
}

double swing(const Derivative& d) {
  return std::max(
      {std::abs(d.min_value()), std::abs(d.max_value()), d.max_value() - d.min_value()});
}

TEST(Branches, CoverTheDomainWithoutHoles) {
  for_all_functions([](const Derivative& d) {
    const std::vector<Branch>& branches = d.branches();
    ASSERT_EQ(branches.front().lo, d.lo());
    ASSERT_EQ(branches.back().hi, d.hi());
    for (size_t i = 0; i < branches.size(); ++i) {
      ASSERT_LT(branches[i].lo, branches[i].hi);
      ASSERT_GE(branches[i].lo, d.borders()[branches[i].piece]);
      ASSERT_LE(branches[i].hi, d.borders()[branches[i].piece + 1]);
      ASSERT_EQ(branches[i].lo, i == 0 ? d.lo() : branches[i - 1].hi);
    }
  });
}

TEST(Branches, AreMonotoneInTheirDirection) {
  for_all_functions([](const Derivative& d) {
    const double rounding = 4 * kEpsilon * swing(d);
    for (const Branch& b : d.branches()) {
      double before = b.value_lo;
      for (int i = 1; i <= 500; ++i) {
        const double now = d.value(b.lo + (b.hi - b.lo) * i / 500, b.piece);
        if (b.direction == 0) {
          ASSERT_NEAR(now, b.value_lo, rounding);
        } else {
          ASSERT_GE((now - before) * b.direction, -rounding);
        }
        before = now;
      }
    }
  });
}

TEST(Branches, HoldTheExtremesOfTheDerivative) {
  for_all_functions([](const Derivative& d) {
    for (const double x : irregular_points(d.hi(), 3000)) {
      ASSERT_GE(d.value(x), d.min_value() - 4 * kEpsilon * swing(d)) << x;
      ASSERT_LE(d.value(x), d.max_value() + 4 * kEpsilon * swing(d)) << x;
    }
  });
}

TEST(Branches, AreInvertedBySolveToAFewRoundings) {
  for_all_functions([](const Derivative& d) {
    for (const Branch& b : d.branches()) {
      if (b.direction == 0) continue;
      for (const double part : {1e-9, 0.01, 0.2, 0.5, 0.77, 0.999}) {
        const double value = b.value_lo + part * (b.value_hi - b.value_lo);
        const double x = d.solve(b, value);
        ASSERT_GE(x, b.lo);
        ASSERT_LE(x, b.hi);
        const double conditioning = std::abs(x * d.slope(x, b.piece));
        ASSERT_NEAR(d.value(x, b.piece), value, 4 * kEpsilon * (swing(d) + conditioning))
            << "x = " << x;
      }
    }
  });
}

TEST(Branches, AreFlatThroughoutForStepFunctions) {
  for (const char* name : {"relu", "leaky_relu", "relu6", "threshold", "hardtanh", "hardsigmoid",
                           "hardshrink", "softshrink"}) {
    const Derivative d(expression_of(parse_function(name)), -10, 10);
    EXPECT_TRUE(d.is_step_function()) << name;
    for (const Branch& b : d.branches()) EXPECT_EQ(b.value_lo, b.value_hi) << name;
  }
  EXPECT_FALSE(
      Derivative(expression_of(parse_function("relu_squared")), -10, 10).is_step_function());
}

}  // namespace fewbit::solver::branch_test
