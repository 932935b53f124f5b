// Calls: functions made of others, functions of a library, parameters by place and by name.

#include <cmath>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "expression/evaluate.hpp"
#include "expression/language.hpp"
#include "expression/library.hpp"
#include "expression/tape.hpp"
#include "tests/expression/reference.hpp"

namespace fewbit::solver::call_test {

void check_scale(const std::vector<Expression::Parameter>& parameters) {
  if (!(parameters[0].second > 0.0)) throw Error("scale is not positive");
}

const Library& library() {
  static const Library functions = {
      {"bend", {"x"}, {{"scale", 2.0}, {"shift", -1.0}}, "tanh(scale*x + shift)", check_scale},
      {"softplus", {"x"}, {{"beta", 1.0}}, "softplus(beta*x)/beta"},
      {"twice", {"x"}, {}, "x + x"}};
  return functions;
}

std::string text(const char* written, std::vector<Expression::Parameter> parameters = {}) {
  return Expression::parse(written, std::move(parameters), library()).text();
}

double at(const char* written, double x) {
  return Expression::parse(written, {}, library()).evaluate(x);
}

std::string refusal(const char* written) {
  try {
    return text(written, {{"alpha", 1.0}});
  } catch (const Error& error) {
    const std::string message = error.what();
    return message.substr(0, message.find('\n'));
  }
}

bool same_tape(const Expression& f, const Expression& g) {
  const auto equal = [](const Node& a, const Node& b) {
    return a.op == b.op && a.a == b.a && a.b == b.b && a.c == b.c && a.value == b.value &&
           a.parameter == b.parameter;
  };
  return std::equal(f.nodes().begin(), f.nodes().end(), g.nodes().begin(), g.nodes().end(), equal);
}

TEST(Constant, IsANumberInTheText) {
  EXPECT_EQ(text("pi*x + e"), "3.141592653589793 * x + 2.718281828459045");
  EXPECT_EQ(at("2*pi", 0), 2.0 * std::numbers::pi);
  EXPECT_EQ(text("e^(2*x)"), "exp(2 * x)");
  EXPECT_EQ(text("e^2"), "2.718281828459045^2");
}

TEST(Constant, GivesWayToAParameterOfItsName) {
  const Expression f = Expression::parse("pi*x + e", {{"e", 1.0}, {"pi", 3.0}});
  EXPECT_EQ(f.evaluate(2.0), 7.0);
  EXPECT_EQ(f.text(), "pi * x + e");
}

TEST(Constant, IsNoFunctionAndNoExponentOfANumber) {
  EXPECT_EQ(refusal("pi(2)"), "expression: 'pi' is no function (an operator is missing)");
  EXPECT_EQ(refusal("2e"), "expression: unexpected 'e' (an operator is missing)");
  EXPECT_EQ(refusal("2pi"), "expression: unexpected 'p' (an operator is missing)");
}

TEST(Composition, IsMadeOfOperations) {
  EXPECT_EQ(text("erfc(x)"), "2 * normcdf(-1.4142135623730951 * x)");
  EXPECT_EQ(text("log2(x)"), "1.4426950408889634 * log(x)");
  EXPECT_EQ(text("log10(x)"), "0.4342944819032518 * log(x)");
  EXPECT_EQ(text("pow(x + 1, 3)"), "(x + 1)^3");
  EXPECT_EQ(text("pow(x, x)"), text("x^x"));
}

/// As accurate as it is when u is off by two units in its last place, in both tails.
TEST(Composition, ErfcIsAccurateInBothTails) {
  const Expression f = Expression::parse("erfc(x)");
  for (double u = -30.0; u < 26.0; u += 0.0317) {
    const double exact = static_cast<double>(erfc(Wide(u)));
    const double allowed = 5.0 + 4.0 * 2.0 * std::max(u, 0.0) * std::max(u, 0.0);
    EXPECT_NEAR(f.evaluate(u), exact, allowed * 0x1p-53 * exact) << u;
  }
}

TEST(Composition, LogarithmsAreWithinTwoUnits) {
  for (double u = 1e-3; u < 1e6; u *= 1.0317) {
    const Wide log10_u = log10(Wide(u));
    const Wide log2_u = log(Wide(u)) / log(Wide(2));
    EXPECT_NEAR(at("log10(x)", u), static_cast<double>(log10_u),
                0x1p-51 * std::abs(static_cast<double>(log10_u)));
    EXPECT_NEAR(at("log2(x)", u), static_cast<double>(log2_u),
                0x1p-51 * std::abs(static_cast<double>(log2_u)));
  }
}

TEST(Call, TakesParametersByPlaceByNameOrNotAtAll) {
  EXPECT_EQ(text("bend(x)"), "tanh(2 * x + -1)");
  EXPECT_EQ(text("bend(x, 3)"), "tanh(3 * x + -1)");
  EXPECT_EQ(text("bend(x, 3, 4)"), "tanh(3 * x + 4)");
  EXPECT_EQ(text("bend(x, shift=4)"), "tanh(2 * x + 4)");
  EXPECT_EQ(text("bend(x, 3, shift = 4)"), "tanh(3 * x + 4)");
  EXPECT_EQ(text("bend(x, shift=4, scale=3)"), "tanh(3 * x + 4)");
  EXPECT_EQ(text("bend(x*x, scale=1/3)"), "tanh(1 / 3 * (x * x) + -1)");
  EXPECT_EQ(text("bend(x, alpha)", {{"alpha", 0.5}}), "tanh(alpha * x + -1)");
}

TEST(Call, TakesItsArgumentAsAWhole) {
  EXPECT_EQ(text("twice(x - 1)^2"), "(x - 1 + (x - 1))^2");
  EXPECT_EQ(at("twice(twice(x) + 1)", 3.0), 14.0);
}

TEST(Call, MeansTheOperationUnlessParametersAreGiven) {
  EXPECT_EQ(text("softplus(x)"), "softplus(x)");
  EXPECT_EQ(text("softplus(x, 2)"), "softplus(2 * x) / 2");
}

TEST(Call, SaysWhatIsWrongWithParameters) {
  EXPECT_EQ(refusal("bend(x, 1, 2, 3)"),
            "expression: expected ')' (bend takes 1 value, then scale, shift)");
  EXPECT_EQ(refusal("bend()"), "expression: unexpected ')'");
  EXPECT_EQ(refusal("bend(x, size=2)"),
            "expression: bend has no parameter 'size' (accepted: scale, shift)");
  EXPECT_EQ(refusal("bend(x, 2, scale=2)"), "expression: scale is given twice");
  EXPECT_EQ(refusal("bend(x, scale=2, 3)"), "expression: expected NAME=VALUE behind another one");
  EXPECT_EQ(refusal("bend(x, x)"), "expression: scale of bend must not depend on x");
  EXPECT_EQ(refusal("bend(x, scale=-1)"), "expression: scale is not positive");
  EXPECT_EQ(refusal("bend(x, 0/0)"), "expression: scale of bend is not finite");
  EXPECT_EQ(refusal("twice(x, 1)"), "expression: expected ')' (twice takes 1 value)");
  EXPECT_EQ(refusal("tanh(x=1)"), "expression: expected ')' (tanh takes 1 value)");
  EXPECT_EQ(refusal("bent(x)"), "expression: unknown function 'bent' (nearest: bend)");
  EXPECT_EQ(refusal("bend + 1"), "expression: 'bend' is a function: expected '(' behind it");
}

TEST(Call, ComparesWhereTheNameIsFollowedByTwoEqualSigns) {
  EXPECT_EQ(text("bend(x, alpha == 1)", {{"alpha", 1.0}}), "tanh((alpha == 1) * x + -1)");
}

TEST(Call, LeavesATapeThatItsTextGivesAgain) {
  for (const char* written :
       {"bend(x, shift=-4)", "bend(bend(x), 1/3, -2)", "erfc(erfc(x)/log2(3 + x^2))", "pow(x^2, x)",
        "twice(twice(x)*e)", "softplus(x, 3) + pow(2, sin(x))", "e^cos(x)"}) {
    const Expression f = Expression::parse(written, {}, library());
    EXPECT_TRUE(same_tape(f, Expression::parse(f.text()))) << f.text();
  }
}

TEST(Call, IsRefusedWhereItsTextWouldBeTooLong) {
  std::string nested = "x";
  for (int i = 0; i < 100; ++i) nested = "twice(" + nested + ")";
  EXPECT_EQ(refusal(nested.c_str()),
            "expression: is longer than 65536 characters when written out");
}

TEST(Language, TellsOfEveryFunctionOnce) {
  std::multiset<std::string> known;
  for (const OpInfo& info : function_operations()) known.insert(info.name);
  for (const Definition& definition : compositions()) known.insert(definition.name);
  std::multiset<std::string> told;
  for (const FunctionText& function : function_texts()) told.insert(function.name);
  EXPECT_EQ(told, known);
}

TEST(Language, HasExamplesThatUseTheFunction) {
  for (const FunctionText& function : function_texts()) {
    EXPECT_NE(function.example.find(function.name + "("), std::string::npos) << function.name;
    EXPECT_TRUE(function.call.starts_with(function.name + "(")) << function.name;
    EXPECT_TRUE(std::isfinite(Expression::parse(function.example).evaluate(0.7)))
        << function.example;
  }
}

}  // namespace fewbit::solver::call_test
