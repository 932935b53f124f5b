#include <bit>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "expression/evaluate.hpp"
#include "tests/expression/random_expression.hpp"

namespace fewbit::solver::round_trip_test {

/// Bit by bit, except that any nan equals any other.
bool same(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

TEST(Text, ReadsBackAsTheSameFunctionForRandomTapes) {
  EXPECT_TRUE(rc::check([] {
    const Expression f = RandomExpression(false).make();
    const Expression again = Expression::parse(f.text(), f.parameters());
    RC_ASSERT(again.text() == f.text());
    RC_ASSERT(again.nodes().size() == f.nodes().size());
    for (const double x : {-3.7, -1.0, 0.0, 0.4, 1.0, 5.3}) {
      const auto was = f.evaluate(Jet<double>{x, 1.0, 0.0});
      const auto is = again.evaluate(Jet<double>{x, 1.0, 0.0});
      RC_ASSERT(same(was.value, is.value) && same(was.first, is.first) &&
                same(was.second, is.second));
    }
  }));
}

TEST(Text, IsCanonical) {
  const auto text = [](const char* written) { return Expression::parse(written).text(); };
  EXPECT_EQ(text("((x))*(2)"), "x * 2");
  EXPECT_EQ(text("x-(1-x)-(2+x)"), "x - (1 - x) - (2 + x)");
  EXPECT_EQ(text("x/(2*x)/(x/3)"), "x / (2 * x) / (x / 3)");
  EXPECT_EQ(text("-(x^2)"), "-x^2");
  EXPECT_EQ(text("(-x)^2"), "(-x)^2");
  EXPECT_EQ(text("x^(-2)"), "x^-2");
  EXPECT_EQ(text("(x^2)^3"), "(x^2)^3");
  EXPECT_EQ(text("x^(2^3)"), "x^2^3");
  EXPECT_EQ(text("-(x+1)"), "-(x + 1)");
  EXPECT_EQ(text("(x<1)<2"), "(x < 1) < 2");
  EXPECT_EQ(text("where( x>0 ,x,0)"), "where(x > 0, x, 0)");
  EXPECT_EQ(text("x^x"), "exp(x * log(x))");
}

}  // namespace fewbit::solver::round_trip_test
