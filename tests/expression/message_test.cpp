#include <gtest/gtest.h>

#include "base/error.hpp"
#include "expression/expression.hpp"

namespace fewbit::solver::message_test {

std::string refusal(std::string_view text) {
  try {
    Expression::parse(text, {{"alpha", 1.0}});
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// The message for a short text with the caret under `column`.
std::string caret(const std::string& message, const std::string& text, size_t column) {
  return "expression: " + message + "\n  " + text + "\n  " + std::string(column, ' ') + "^";
}

TEST(ParserMessage, PointsAtTheWrongColumn) {
  EXPECT_EQ(refusal("x + * 2"), caret("unexpected '*'", "x + * 2", 4));
  EXPECT_EQ(refusal("x + )"), caret("unexpected ')'", "x + )", 4));
  EXPECT_EQ(refusal("(x + 1"), caret("expected ')' to close the bracket", "(x + 1", 6));
  EXPECT_EQ(refusal("x < 1 < 2"), caret("unexpected '<'", "x < 1 < 2", 6));
  EXPECT_EQ(refusal("x ** 2"), caret("unexpected '*'", "x ** 2", 3));
  EXPECT_EQ(refusal("x = 2"), caret("unexpected '='", "x = 2", 2));
}

TEST(ParserMessage, SaysWhatIsMissingAtTheEnd) {
  const std::string missing = "ends where a number, x, a parameter or a function is expected";
  EXPECT_EQ(refusal(""), caret(missing, "", 0));
  EXPECT_EQ(refusal("x +"), caret(missing, "x +", 3));
  EXPECT_EQ(refusal("tanh("), caret(missing, "tanh(", 5));
}

TEST(ParserMessage, SaysThatAnOperatorIsMissing) {
  EXPECT_EQ(refusal("2x"), caret("unexpected 'x' (an operator is missing)", "2x", 1));
  EXPECT_EQ(refusal("2(x)"), caret("unexpected '(' (an operator is missing)", "2(x)", 1));
  EXPECT_EQ(refusal("x(2)"), caret("'x' is no function (an operator is missing)", "x(2)", 0));
  EXPECT_EQ(refusal("alpha (2)"),
            caret("'alpha' is no function (an operator is missing)", "alpha (2)", 0));
}

TEST(ParserMessage, NamesTheNearestKnownNames) {
  EXPECT_EQ(refusal("x*alfa"), caret("unknown name 'alfa' (nearest: alpha)", "x*alfa", 2));
  EXPECT_EQ(refusal("sigmiod(x)"),
            caret("unknown function 'sigmiod' (nearest: sigmoid)", "sigmiod(x)", 0));
  EXPECT_EQ(refusal("gaussian(x)"), caret("unknown function 'gaussian'", "gaussian(x)", 0));
  EXPECT_EQ(refusal("x*tanh"), caret("'tanh' is a function: expected '(' behind it", "x*tanh", 2));
}

TEST(ParserMessage, SaysHowManyValuesAFunctionTakes) {
  EXPECT_EQ(refusal("min(x)"), caret("expected ',' (min takes 2 values)", "min(x)", 5));
  EXPECT_EQ(refusal("clamp(x, 1)"),
            caret("expected ',' (clamp takes 3 values)", "clamp(x, 1)", 10));
  EXPECT_EQ(refusal("tanh(x, 1)"), caret("expected ')' (tanh takes 1 value)", "tanh(x, 1)", 6));
  EXPECT_EQ(refusal("tanh()"), caret("unexpected ')'", "tanh()", 5));
}

TEST(ParserMessage, RefusesNumbersThatAreNone) {
  const std::string range = "this number is beyond the range of double precision";
  EXPECT_EQ(refusal("x + 1e400"), caret(range, "x + 1e400", 4));
  EXPECT_EQ(refusal("1e-400"), caret(range, "1e-400", 0));
  EXPECT_EQ(refusal("."), caret("expected a number", ".", 0));
  EXPECT_EQ(refusal("1.5.2"), caret("unexpected '.' (an operator is missing)", "1.5.2", 3));
  EXPECT_EQ(refusal("0x10"), caret("unexpected 'x' (an operator is missing)", "0x10", 1));
  EXPECT_EQ(refusal("inf"), caret("unknown name 'inf' (nearest: erf, min, sin)", "inf", 0));
}

TEST(ParserMessage, ShowsBytesThatArePrintableAndNamesOthers) {
  EXPECT_EQ(refusal("x\xc3\x97 2"), caret("unexpected '\xc3\x97'", "x\xc3\x97 2", 1));
  EXPECT_EQ(refusal("\xce\xb1*y"), caret("unexpected '\xce\xb1'", "\xce\xb1*y", 0));
  EXPECT_EQ(refusal(std::string_view("x\0+1", 4)), caret("unexpected byte 0x00", "x?+1", 1));
  EXPECT_EQ(refusal(std::string_view("\0", 1)), caret("unexpected byte 0x00", "?", 0));
  EXPECT_EQ(refusal("x\xff"), caret("unexpected byte 0xff", "x?", 1));
  EXPECT_EQ(refusal("x\x1b[31m"), caret("unexpected byte 0x1b", "x?[31m", 1));
}

TEST(ParserMessage, KeepsTheCaretInLineBehindTabsLinesAndForeignLetters) {
  EXPECT_EQ(refusal("x\t+\n$"), caret("unexpected '$'", "x + $", 4));
  EXPECT_EQ(refusal("$ \xc3\xa9"), caret("unexpected '$'", "$ \xc3\xa9", 0));
}

TEST(ParserMessage, ShowsOnlyTheSurroundingsInALongText) {
  const std::string before(200, '1');
  EXPECT_EQ(refusal(before + "$" + std::string(200, '2')),
            caret("unexpected '$'",
                  "..." + std::string(50, '1') + "$" + std::string(29, '2') + "...", 53));
}

TEST(ParserMessage, LimitsLengthDepthAndNames) {
  EXPECT_EQ(refusal(std::string(70000, ' ')), "expression: is longer than 65536 characters");
  EXPECT_NE(refusal(std::string(300, '(')).find("is nested deeper than 200 levels"),
            std::string::npos);
  std::string tower = "x";
  for (int i = 0; i < 300; ++i) tower += "^x";
  EXPECT_NE(refusal(tower).find("is nested deeper than 200 levels"), std::string::npos);
  EXPECT_LT(refusal(std::string(60000, 'q')).size(), 300u);
}

}  // namespace fewbit::solver::message_test
