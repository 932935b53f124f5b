#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/expression/refusal.hpp"

namespace fewbit::solver::kink_test {

using Kinks = std::vector<double>;

Derivative derivative(const std::string& text, double lo = -10, double hi = 10) {
  return {Expression::parse(text), lo, hi};
}

Kinks kinks(const std::string& text, double lo = -10, double hi = 10) {
  const Derivative d = derivative(text, lo, hi);
  return {d.borders().begin() + 1, d.borders().end() - 1};
}

TEST(Kinks, AreTheNearestDoublesOfTheirRoots) {
  EXPECT_EQ(kinks("max(3*x - 1, 0)"), Kinks{1.0 / 3.0});
  EXPECT_EQ(kinks("max(7*x + 5, 0)"), Kinks{-5.0 / 7.0});
  EXPECT_EQ(kinks("max(x, 0.1)"), Kinks{0.1});
  EXPECT_EQ(kinks("abs(x^2 - 2)"), (Kinks{-std::sqrt(2.0), std::sqrt(2.0)}));
  EXPECT_EQ(kinks("where(x^3 > 5, x^2, x)"), Kinks{1.709975946676697});
  EXPECT_DOUBLE_EQ(kinks("max(tanh(x), 0.5)").at(0), std::atanh(0.5));
  EXPECT_EQ(kinks("max(exp(x), 1)", -7.3, 11.9), Kinks{0.0});
}

TEST(Kinks, ComeFromEverySwitch) {
  EXPECT_EQ(kinks("min(x, 2)"), Kinks{2});
  EXPECT_EQ(kinks("clamp(x, -1, 2)"), (Kinks{-1, 2}));
  EXPECT_EQ(kinks("x*sign(x - 1)"), Kinks{1});
  EXPECT_EQ(kinks("x*(x > 1) + x^2*(x <= 1)"), Kinks{1});
  EXPECT_EQ(kinks("x + x*(x >= -2)*(x < 3)"), (Kinks{-2, 3}));
  EXPECT_EQ(kinks("where(x - 1, x, 2*x)"), Kinks{});
}

TEST(Kinks, IncludePolesThroughWhichAConditionChangesItsSign) {
  EXPECT_EQ(kinks("where(1/x > 2, x, 0)"), (Kinks{0, 0.5}));
  EXPECT_EQ(kinks("where(1/x > 2, x, 0)", -3, 10), (Kinks{0, 0.5}));
  EXPECT_EQ(kinks("where(1/(x - 1) > 2, x, 3*x)"), (Kinks{1, 1.5}));
  EXPECT_EQ(kinks("where(-1/x < 3, x, 2*x)"), (Kinks{-1.0 / 3.0, 0}));
}

// Where a double has become 0 without g being it nothing is decided: what counts is where it ends.
TEST(Kinks, AreFoundWhereAConditionSaturates) {
  const auto ends_between = [](const char* text, double lo, double hi, double left, double right) {
    const Kinks found = kinks(text, lo, hi);
    const auto inside = [&](double x) { return x > left && x < right; };
    EXPECT_EQ(std::count_if(found.begin(), found.end(), inside), 1) << text;
  };
  ends_between("min(1, tanh(5*x)) + tanh(x)", -10, 10, 3, 5);
  ends_between("abs(erf(2*x) - 1)", 0, 10, 2, 4);
  ends_between("min(1, tanh(x))", -10, 100, 15, 25);
  EXPECT_EQ(kinks("abs(x*sigmoid(x))", -1e4, 1e4).back(), 0.0);
  EXPECT_EQ(kinks("max(0, x*exp(-x^2))", -100, 100).front(), 0.0);
  const Kinks bump = kinks("tanh(x) + max(0, exp(-1e4*(x - 0.3)^2))", -10, 10);
  ASSERT_EQ(bump.size(), 2u);
  EXPECT_LT(bump.front(), 0.1);
  EXPECT_GT(bump.back(), 0.5);
}

TEST(Kinks, CloseTogetherInAWideDomainAreFound) {
  const Kinks found = kinks("where((x - 0.3)^2 < 1e-6, 2*x, x)", -1e12, 1e12);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found.front(), 0.299, 1e-12);
  EXPECT_NEAR(found.back(), 0.301, 1e-12);
}

TEST(Kinks, AreSeenThroughNestedConditions) {
  EXPECT_EQ(kinks("where(x > 0, where(x > 2, 2*x, x), where(x < -3, 0, x^2))"), (Kinks{-3, 0, 2}));
  EXPECT_EQ(kinks("abs(abs(x) - 1)"), (Kinks{-1, 0, 1}));
  EXPECT_EQ(kinks("max(min(x, 1), abs(x)/2)"), (Kinks{0, 1, 2}));
}

TEST(Kinks, DisappearWhereBothSidesAreTheSame) {
  EXPECT_EQ(kinks("where(x > 1, x^2, x^2)"), Kinks{});
  EXPECT_EQ(kinks("where(x == 1, 5, x^2)"), Kinks{});
  EXPECT_EQ(kinks("where(x - x > 0, x, x^2)"), Kinks{});
  EXPECT_EQ(kinks("max(x, x - 1)"), Kinks{});
  EXPECT_EQ(kinks("where((x - 1)^2 >= 0, x, x^2)"), Kinks{});
}

TEST(Kinks, LeaveBranchesThatAreNeverTakenAlone) {
  EXPECT_NO_THROW(derivative("where(x > -20, x^2, log(x))"));
  EXPECT_NO_THROW(derivative("where(x > 1, log(x), 0)"));
  EXPECT_NO_THROW(derivative("where(abs(x) > 1, where(log(abs(x)) > 1, x, x^2), 0)"));
  EXPECT_EQ(kinks("where(x > 1, where(log(x) > 1, x, x^2), 0)"), (Kinks{1, std::exp(1.0)}));
}

TEST(Kinks, GiveOneSidedDerivativesAtTheBorder) {
  const Derivative d = derivative("where(x > 1, x^3, x^2)");
  EXPECT_EQ(d.value(1.0), 2.0);
  EXPECT_EQ(d.value(1.0, 1), 3.0);
  EXPECT_EQ(d.piece_of(1.0), 0u);
  EXPECT_EQ(d.piece_of(std::nextafter(1.0, 2.0)), 1u);
}

TEST(Kinks, SurviveARootOfHighOrder) {
  EXPECT_EQ(kinks("where((x - 1)^3 > 0, x, x^2)"), Kinks{1});
  EXPECT_EQ(kinks("where(x^3 - 3*x^2 + 3*x - 1 > 0.001, x, x^2)").size(), 1u);
}

TEST(Kinks, RefuseAConditionThatIsNoNumber) {
  EXPECT_EQ(refusal("where(log(x) > 0, x, 0)"),
            "expression: a condition is not a number at x = -4.5: log(x)");
}

TEST(Kinks, RefuseMoreThanCanBeTold) {
  std::string text = "abs(x)";
  for (int i = 0; i < 40; ++i) text = "abs(2*" + text + " - 10)";
  EXPECT_EQ(refusal(text), "expression: has too many kinks in [-10, 10]");
}

}  // namespace fewbit::solver::kink_test
