#include <cmath>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "expression/evaluate.hpp"

namespace fewbit::solver::parser_test {

double at(const char* text, double x) {
  return Expression::parse(text).evaluate(x);
}

TEST(Parser, BindsAsMathematicsDoes) {
  EXPECT_EQ(at("-x^2", 3), -9.0);
  EXPECT_EQ(at("(-x)^2", 3), 9.0);
  EXPECT_EQ(at("2^-x", 2), 0.25);
  EXPECT_EQ(at("2^3^2", 0), 512.0);
  EXPECT_EQ(at("10-x-2", 3), 5.0);
  EXPECT_EQ(at("16/x/2", 4), 2.0);
  EXPECT_EQ(at("1+2*x^2/4-1", 4), 8.0);
  EXPECT_EQ(at("2*-x", 3), -6.0);
  EXPECT_EQ(at("--x - -+x", 3), 6.0);
}

TEST(Parser, ReadsComparisonsAsOneOrZero) {
  EXPECT_EQ(at("(x < 2) + (x <= 2)*10 + (x > 2)*100", 2), 10.0);
  EXPECT_EQ(at("(x == 2) + (x != 2)*10 + (x >= 2)*100", 2), 101.0);
  EXPECT_EQ(at("x + 1 < 2*x", 2), 1.0);
}

TEST(Parser, ReadsEveryFunction) {
  EXPECT_EQ(at("min(x, 3) + max(x, 3)", 5), 8.0);
  EXPECT_EQ(at("clamp(x, -1, 2)", 5), 2.0);
  EXPECT_EQ(at("where(x > 1, x, -x)", 0.5), -0.5);
  EXPECT_EQ(at("abs(x) + sign(x)", -3), 2.0);
  EXPECT_EQ(at("sqrt(x)", 9), 3.0);
  EXPECT_EQ(at("exp(x) - 1 - expm1(x)", 0), 0.0);
  EXPECT_DOUBLE_EQ(at("log(x) + log1p(x)", 2), std::log(2) + std::log1p(2));
  EXPECT_DOUBLE_EQ(at("tanh(x)*erf(x)", 0.3), std::tanh(0.3) * std::erf(0.3));
  EXPECT_DOUBLE_EQ(at("sigmoid(x) + softplus(x)", 0), 0.5 + std::log(2));
  EXPECT_DOUBLE_EQ(at("normcdf(x)", 0), 0.5);
}

TEST(Parser, ReadsNumbersAsPeopleWriteThem) {
  EXPECT_EQ(at("1", 0), 1.0);
  EXPECT_EQ(at(".5", 0), 0.5);
  EXPECT_EQ(at("1e-3", 0), 1e-3);
  EXPECT_EQ(at("1.", 0), 1.0);
  EXPECT_EQ(at("1.5E+2", 0), 150.0);
  EXPECT_EQ(at("0.1", 0), 0.1);
}

TEST(Parser, IgnoresSpaceAndLines) {
  EXPECT_EQ(at(" x\t*\n x \r\n", 3), 9.0);
}

TEST(Parser, LetsAVariableExponentThroughExpAndLog) {
  EXPECT_DOUBLE_EQ(at("2^x", 0.5), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(at("x^x", 2.5), std::pow(2.5, 2.5));
}

TEST(Parser, LetsParametersHaveTheNamesOfFunctions) {
  const Expression f =
      Expression::parse("max(min(x, max), min) + lambda*threshold",
                        {{"min", -1}, {"max", 2}, {"lambda", 10}, {"threshold", 3}});
  EXPECT_EQ(f.evaluate(5.0), 32.0);
  EXPECT_EQ(f.evaluate(-5.0), 29.0);
}

TEST(Parser, SharesEqualParts) {
  EXPECT_EQ(Expression::parse("tanh(x*x) + tanh(x*x)").nodes().size(), 4u);
}

TEST(Parser, RefusesAMegabyteOfBracketsAtOnce) {
  for (const size_t size : {size_t{50000}, size_t{1} << 20}) {
    const std::string open(size, '(');
    EXPECT_THROW(Expression::parse(open), Error);
    EXPECT_THROW(Expression::parse(open + "x" + std::string(size, ')')), Error);
  }
}

TEST(Parser, ReadsALongSumAndWritesIt) {
  std::string text = "x";
  for (int i = 1; text.size() < 40000; ++i) text += "+" + std::to_string(i) + "*x";
  const Expression f = Expression::parse(text);
  EXPECT_EQ(Expression::parse(f.text()).text(), f.text());
}

}  // namespace fewbit::solver::parser_test
