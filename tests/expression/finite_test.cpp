#include <gtest/gtest.h>

#include "tests/expression/refusal.hpp"

namespace fewbit::solver::finite_test {

TEST(Finite, NamesTheXWhereTheFunctionIsNot) {
  EXPECT_EQ(refusal("log(x)"), "expression: not finite at x = -10: log(x)");
  EXPECT_EQ(refusal("log(x)", 0, 10), "expression: not finite at x = 0: log(x)");
  EXPECT_EQ(refusal("1/x"), "expression: not finite at x = 0: 1 / x");
  EXPECT_EQ(refusal("x^0.5"), "expression: not finite at x = -10: x^0.5");
  EXPECT_EQ(refusal("exp(1000*x)"),
            "expression: second derivative not finite at x = 0.7: exp(1000 * x)");
  EXPECT_EQ(refusal("0/0"), "expression: not finite at x = -10: 0 / 0");
}

TEST(Finite, NamesAPoleExactlyEvenBetweenTheSamples) {
  EXPECT_EQ(refusal("1/(x-3.3)"), "expression: not finite at x = 3.3: 1 / (x - 3.3)");
  EXPECT_EQ(refusal("log(abs(x-1.1))"), "expression: not finite at x = 1.1: log(abs(x - 1.1))");
  EXPECT_EQ(refusal("(x-0.7)^-2"), "expression: not finite at x = 0.7: (x - 0.7)^-2");
  EXPECT_EQ(refusal("1/(x^2 - 2)", 0, 10),
            "expression: not finite at x = 1.4142135623730951: 1 / (x^2 - 2)");
  EXPECT_NE(refusal("1/(x^2 - 2)^2").find("not finite at x = -1.41421356237309"),
            std::string::npos);
}

TEST(Finite, NamesTheXWhereTheDerivativeIsNot) {
  EXPECT_EQ(refusal("sqrt(abs(x))"), "expression: not differentiable at x = 0: sqrt(abs(x))");
  EXPECT_EQ(refusal("sqrt(abs(x - 0.3))"),
            "expression: not differentiable at x = 0.3: sqrt(abs(x - 0.3))");
  EXPECT_EQ(refusal("where(x > 0, sqrt(x), 0)"),
            "expression: not differentiable at x = 0: where(x > 0, sqrt(x), 0)");
  EXPECT_EQ(refusal("x^(1/3)", 0, 1), "expression: not differentiable at x = 0: x^(1 / 3)");
  EXPECT_EQ(refusal("abs(x)^1.5"), "expression: second derivative not finite at x = 0: abs(x)^1.5");
}

TEST(Finite, SeesAKinkThatNoConditionShows) {
  EXPECT_EQ(refusal("sqrt(x^2)"), "expression: not differentiable at x = 0: sqrt(x^2)");
  EXPECT_EQ(refusal("sqrt(x^2)", -4, 3), "expression: not differentiable at x = 0: sqrt(x^2)");
  EXPECT_NE(refusal("sqrt((x - 0.7)^2)").find("not differentiable at x = 0.7"), std::string::npos);
  EXPECT_EQ(refusal("sqrt(x^2 + 1e-4)"), "accepted");
}

TEST(Finite, SeesAGapInTheDomainBetweenTheSamples) {
  EXPECT_EQ(refusal("(x^2 - 1e-10)^2.5"),
            "expression: not finite at x = -5e-06: (x^2 - 1e-10)^2.5");
}

TEST(Finite, AcceptsWhatIsSmoothAtTheBorderOfItsDomain) {
  EXPECT_EQ(refusal("abs(x)^2.5"), "accepted");
  EXPECT_EQ(refusal("max(1 - x^2, 0)^2.5"), "accepted");
  EXPECT_EQ(refusal("where(abs(x) < 1, (1 - x^2)^3.5, 0)"), "accepted");
  EXPECT_EQ(refusal("log(x)", 1e-3, 10), "accepted");
  EXPECT_EQ(refusal("sqrt(x)", 1e-3, 10), "accepted");
}

TEST(Finite, AcceptsSteepFunctions) {
  EXPECT_EQ(refusal("sigmoid(1000000*x)"), "accepted");
  EXPECT_EQ(refusal("1/(1 + exp(-1000000*x))"), "accepted");
  EXPECT_EQ(refusal("tanh(1e5*(x - 0.123))"), "accepted");
}

TEST(Finite, ShortensTheExpressionInTheMessage) {
  std::string text = "1/x";
  for (int i = 1; i < 200; ++i) text += " + " + std::to_string(i);
  EXPECT_LT(refusal(text).size(), 260u);
}

TEST(Derivative, RefusesADomainThatIsNoFiniteInterval) {
  EXPECT_EQ(refusal("x", 1, 1), "domain: [1, 1] is not a finite interval");
  EXPECT_EQ(refusal("x", 2, 1), "domain: [2, 1] is not a finite interval");
  EXPECT_EQ(refusal("x", 0, HUGE_VAL), "domain: [0, inf] is not a finite interval");
  EXPECT_EQ(refusal("x", NAN, 1), "domain: [nan, 1] is not a finite interval");
}

TEST(Derivative, RefusesHopelessCancellationInBoundedTime) {
  EXPECT_NE(refusal("(tanh(x) + 1e9*x^2) - 1e9*x^2").find("too much cancellation"),
            std::string::npos);
}

TEST(Derivative, SaysWhereItTurnsTooOften) {
  for (const char* text : {"sin(1e18*x)", "tanh(x) + cos(1e9*x^2)"}) {
    const std::string message = refusal(text);
    EXPECT_NE(message.find("the derivative turns too often for the domain [-10, 10]: at least 20"),
              std::string::npos)
        << message;
  }
}

TEST(Derivative, IsFlatWhereTheFunctionIsLinear) {
  for (const char* text : {"3", "x", "2*x - 1", "x + (x^2 - x^2)", "x - x", "(x + 1e8)^2 - x^2"}) {
    const Derivative d(Expression::parse(text), -10, 10);
    EXPECT_TRUE(d.is_step_function()) << text;
    EXPECT_EQ(d.branches().size(), 1u) << text;
  }
}

}  // namespace fewbit::solver::finite_test
