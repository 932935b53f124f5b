// What people write with exp and log is the same function, and as exact as sigmoid and softplus.

#include <boost/math/differentiation/autodiff.hpp>
#include <gtest/gtest.h>

#include "expression/decide.hpp"
#include "expression/derivative.hpp"
#include "tests/expression/reference.hpp"

namespace fewbit::solver::rewrite_test {

std::string simplified(const char* text) {
  return simplify(Expression::parse(text)).text();
}

TEST(Rewrite, KnowsSigmoidAndSoftplus) {
  EXPECT_EQ(simplified("log1p(exp(x))"), "softplus(x)");
  EXPECT_EQ(simplified("log(1 + exp(2*x))"), "softplus(2 * x)");
  EXPECT_EQ(simplified("log(exp(x) + 1)"), "softplus(x)");
  EXPECT_EQ(simplified("1/(1 + exp(-x))"), "sigmoid(x)");
  EXPECT_EQ(simplified("x/(1 + exp(-x))"), "x * sigmoid(x)");
  EXPECT_EQ(simplified("x/(1 + exp(-1.702*x))"), "x * sigmoid(1.702 * x)");
  EXPECT_EQ(simplified("exp(x)/(1 + exp(x))"), "sigmoid(x)");
  EXPECT_EQ(simplified("1/(exp(x) + 1)"), "sigmoid(-x)");
}

TEST(Rewrite, LeavesOthersAlone) {
  for (const char* text : {"log(2 + exp(x))", "1 / (1 - exp(x))", "log1p(x)", "x / (1 + x)",
                           "exp(x) / (2 + exp(x))"}) {
    EXPECT_EQ(simplified(text), text);
  }
}

TEST(Rewrite, KeepsTheFunctionAndItsDerivativesToARounding) {
  for (const char* text :
       {"log1p(exp(x))", "log(1 + exp(2*x))", "1/(1 + exp(-x))", "x/(1 + exp(-1.702*x))",
        "exp(x)/(1 + exp(x))", "1/(exp(x) + 1)", "x*tanh(log1p(exp(x)))"}) {
    const Expression f = Expression::parse(text);
    const Derivative d(f, -30, 30);
    for (double x = -29.9; x < 30.0; x += 0.37) {
      const auto exact = reference(f, boost::math::differentiation::make_fvar<Wide, 2>(Wide(x)));
      const auto first = static_cast<double>(exact.derivative(1));
      const auto second = static_cast<double>(exact.derivative(2));
      const double scale = std::abs(first) + std::abs(x * second);
      EXPECT_NEAR(d.value(x), first, 1e-15 * scale) << text << " at " << x;
    }
  }
}

TEST(Rewrite, MakesThemWorkFarOut) {
  for (const char* text : {"log1p(exp(x))", "log(1 + exp(x))", "x/(1 + exp(-x))"}) {
    EXPECT_NO_THROW(Derivative(Expression::parse(text), -36, 36)) << text;
    EXPECT_NO_THROW(Derivative(Expression::parse(text), -800, 800)) << text;
  }
}

}  // namespace fewbit::solver::rewrite_test
