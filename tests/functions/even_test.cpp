#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "functions/registry.hpp"

namespace fewbit::solver {

namespace {

bool even(const std::string& function, double lo = -10, double hi = 10) {
  return Derivative(expression_of(parse_function(function)), lo, hi).is_even();
}

}  // namespace

TEST(IsEven, HoldsForExactlyTheOddFunctionsUpToAConstant) {
  for (const FunctionInfo& info : registry()) {
    const std::string& name = info.name;
    const bool expected = name == "hardtanh" || name == "hardsigmoid" || name == "hardshrink" ||
                          name == "softshrink" || name == "sigmoid" || name == "softsign" ||
                          name == "tanh" || name == "tanhshrink";
    EXPECT_EQ(even(name), expected) << name;
    EXPECT_EQ(even(name, -36, 36), expected) << name;
  }
}

TEST(IsEven, FollowsTheParameters) {
  EXPECT_TRUE(even("hardtanh:min=-0.3,max=0.3"));
  EXPECT_FALSE(even("hardtanh:min=-1,max=1.000001"));
  EXPECT_FALSE(even("hardtanh:min=-1.000000001,max=1"));
  EXPECT_TRUE(even("leaky_relu:negative_slope=1"));
  EXPECT_TRUE(even("hardshrink:lambda=3.3"));
  EXPECT_TRUE(even("softshrink:lambda=0"));
}

TEST(IsEven, SeesAThinDifferenceBetweenTheSides) {
  const Expression f = Expression::parse("where(x > 3.00001, x, where(x < -3, x, 2*x))");
  EXPECT_FALSE(Derivative(f, -10, 10).is_even());
}

TEST(IsEven, HoldsForExpressionsTypedByAUser) {
  EXPECT_TRUE(Derivative(Expression::parse("x^3 - 2*x + 1"), -2, 2).is_even());
  EXPECT_FALSE(Derivative(Expression::parse("x^3 - 2*x^2"), -2, 2).is_even());
}

}  // namespace fewbit::solver
