#include <gtest/gtest.h>

#include "base/error.hpp"
#include "functions/registry.hpp"

namespace fewbit::solver::refusal_test {

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal(std::string_view text) {
  return message_of([&] { parse_function(text); });
}

std::string custom_refusal(std::string_view name, std::string_view expression) {
  return message_of([&] { custom_function(name, expression); });
}

TEST(ParseFunction, NamesTheNearestFunctions) {
  EXPECT_EQ(refusal("gelo"), "unknown function 'gelo' (nearest: gelu, celu, elu)");
  EXPECT_EQ(refusal("GELU_tanh"), "unknown function 'GELU_tanh' (nearest: gelu_tanh)");
  EXPECT_EQ(refusal("convolution"), "unknown function 'convolution' (fewbit-solve list shows all)");
  EXPECT_EQ(refusal(std::string(100000, 'q')),
            "unknown function '" + std::string(64, 'q') + "...' (fewbit-solve list shows all)");
}

TEST(ParseFunction, RefusesUnknownAndMalformedParameters) {
  EXPECT_EQ(refusal("elu:beta=1"), "function elu: unknown parameter 'beta' (accepted: alpha)");
  EXPECT_EQ(refusal("gelu:alpha=1"), "function gelu: unknown parameter 'alpha' (accepted: none)");
  EXPECT_EQ(refusal("elu:alpha"), "function elu: 'alpha' is not NAME=VALUE");
  EXPECT_EQ(refusal("elu:"), "function elu: '' is not NAME=VALUE");
  EXPECT_EQ(refusal("elu:alpha=1,"), "function elu: '' is not NAME=VALUE");
  EXPECT_EQ(refusal("elu:alpha="), "elu:alpha: '' is not a number");
  EXPECT_EQ(refusal("elu:alpha=big"), "elu:alpha: 'big' is not a number");
  EXPECT_EQ(refusal("elu:alpha=nan"), "elu:alpha: 'nan' is not a number");
  EXPECT_EQ(refusal("elu:alpha=1,alpha=2"), "function elu: alpha is given twice");
}

TEST(ParseFunction, RefusesValuesOutOfRange) {
  EXPECT_EQ(refusal("celu:alpha=0"),
            "function celu: alpha = 0 is out of range (greater than 0, at most 1e+06)");
  EXPECT_EQ(refusal("elu:alpha=inf"),
            "function elu: alpha = inf is out of range (from -1e+06 to 1e+06)");
  EXPECT_EQ(refusal("hardshrink:lambda=-1"),
            "function hardshrink: lambda = -1 is out of range (from 0 to 1e+06)");
  EXPECT_EQ(refusal("hardtanh:min=2"), "function hardtanh: min = 2 is not less than max = 1");
  EXPECT_EQ(refusal("hardtanh:min=1,max=1"), "function hardtanh: min = 1 is not less than max = 1");
}

TEST(CustomFunction, RefusesANameThatIsNoIdentifierOrTaken) {
  const std::string tail =
      "' is not an identifier (letters, digits and _, at most 64, no digit first)";
  EXPECT_EQ(custom_refusal("", "x"), "name '" + tail);
  EXPECT_EQ(custom_refusal("2fast", "x"), "name '2fast" + tail);
  EXPECT_EQ(custom_refusal("my-act", "x"), "name 'my-act" + tail);
  EXPECT_EQ(custom_refusal("../act", "x"), "name '../act" + tail);
  EXPECT_EQ(custom_refusal(std::string(65, 'a'), "x"), "name '" + std::string(65, 'a') + tail);
  EXPECT_EQ(custom_refusal("int", "x"), "name 'int' is a keyword of C++; choose another one");
  EXPECT_EQ(custom_refusal("gelu", "x"),
            "name 'gelu' is a registered function; choose another one");
  EXPECT_EQ(custom_refusal("swish", "x"),
            "name 'swish' is a registered function; choose another one");
}

TEST(CustomFunction, RefusesAnExpressionWithACaret) {
  EXPECT_EQ(custom_refusal("act", "x*y"),
            "expression: unknown name 'y' (nearest: e, x, pi)\n"
            "  x*y\n"
            "    ^");
}

}  // namespace fewbit::solver::refusal_test
