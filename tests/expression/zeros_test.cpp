#include "expression/zeros.hpp"

#include <gtest/gtest.h>

namespace fewbit::solver::zeros_test {

using Points = std::vector<double>;

Points zeros_of(const char* text, double lo, double hi) {
  long work = 1000000;
  return zeros(Expression::parse(text), lo, hi, work);
}

TEST(Zeros, AreFoundWithAndWithoutAChangeOfSign) {
  EXPECT_EQ(zeros_of("x", -7.3, 11.9), Points{0});
  EXPECT_EQ(zeros_of("3*x - 1", -7.3, 11.9), Points{1.0 / 3.0});
  EXPECT_EQ(zeros_of("x^2", -7.3, 11.9), Points{0});
  EXPECT_EQ(zeros_of("(x - 0.1)^4", -7.3, 11.9), Points{0.1});
  EXPECT_EQ(zeros_of("x*expm1(x - 2)", -7.3, 11.9), (Points{0, 2}));
  EXPECT_EQ(zeros_of("x - sin(x)", -7.3, 11.9), Points{0});
}

TEST(Zeros, OfHighOrderAreOnePointWhereRoundingMakesAStretchOfThem) {
  EXPECT_EQ(zeros_of("1 - cos(x)", -3.3, 2.9), Points{0});
  EXPECT_EQ(zeros_of("exp(x) - 1 - x", -3.3, 2.9), Points{0});
}

TEST(Zeros, AreAtTheEndsToo) {
  EXPECT_EQ(zeros_of("x^2", 0, 3), Points{0});
  EXPECT_EQ(zeros_of("log(x)", 0.25, 1), Points{1});
}

TEST(Zeros, AreNotWhereTheFunctionIsSmallOnly) {
  EXPECT_EQ(zeros_of("x^2 + 1e-9", -7.3, 11.9), Points{});
  EXPECT_EQ(zeros_of("1/x", -7.3, 11.9), Points{});
  EXPECT_EQ(zeros_of("log(x)", -3, -1), Points{});
}

TEST(Zeros, TakeBoundedTime) {
  long work = 10000;
  zeros(Expression::parse("sin(1e9*x)"), -10, 10, work);
  EXPECT_LT(work, 0);
  EXPECT_GT(work, -1000);
}

}  // namespace fewbit::solver::zeros_test
