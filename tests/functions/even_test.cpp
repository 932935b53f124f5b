#include <algorithm>

#include <gtest/gtest.h>

#include "expression/evenness.hpp"
#include "functions/registry.hpp"

namespace fewbit::solver::even_test {

bool even(const std::string& function, double lo = -10, double hi = 10) {
  return is_even(expression_of(parse_function(function)), std::max(-lo, hi));
}

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
  EXPECT_FALSE(is_even(f, 10));
}

TEST(IsEven, SeesANarrowBumpFarFromZero) {
  EXPECT_TRUE(is_even(Expression::parse("tanh(1e4*(x - 3.3)) + tanh(1e4*(x + 3.3))"), 10));
  EXPECT_FALSE(is_even(Expression::parse("tanh(x) + 1e-9*tanh(1e4*(x - 3.3))"), 10));
  EXPECT_FALSE(is_even(Expression::parse("tanh(x) + 1e-9*tanh(1e3*(x - 31))"), 1e4));
}

TEST(IsEven, HoldsForExpressionsTypedByAUser) {
  EXPECT_TRUE(is_even(Expression::parse("x^3 - 2*x + 1"), 2));
  EXPECT_FALSE(is_even(Expression::parse("x^3 - 2*x^2"), 2));
}

}  // namespace fewbit::solver::even_test
