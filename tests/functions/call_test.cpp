// The registry's functions inside expressions.

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "expression/evaluate.hpp"
#include "functions/registry.hpp"
#include "tests/functions/every_function.hpp"

namespace fewbit::solver::call_test {

std::string text(const char* expression) {
  return custom_function("act", expression).expression;
}

std::string refusal(const char* expression) {
  try {
    return text(expression);
  } catch (const Error& error) {
    const std::string message = error.what();
    return message.substr(0, message.find('\n'));
  }
}

/// "elu:alpha=0.5" as "elu(x, alpha=0.5)".
std::string call_of(std::string name) {
  const size_t colon = name.find(':');
  if (colon != std::string::npos) name.replace(colon, 1, "(x, ");
  return name + (colon == std::string::npos ? "(x)" : ")");
}

TEST(RegistryCall, IsTheFunctionItselfForEveryOne) {
  for (const std::string& name : every_function()) {
    if (name == "softplus") continue;  // the language's own, without a threshold
    const Expression f = expression_of(parse_function(name));
    const Expression g = expression_of(custom_function("act", call_of(name)));
    for (const double x : irregular_points(30.0, 200)) {
      EXPECT_EQ(f.evaluate(x), g.evaluate(x)) << name << " at " << x;
    }
  }
}

TEST(RegistryCall, StandsInTheTextAsItsBody) {
  EXPECT_EQ(text("gelu(2*x)"), "2 * x * normcdf(2 * x)");
  EXPECT_EQ(text("elu(x, 0.5)"), "where(x > 0, x, 0.5 * expm1(x))");
  EXPECT_EQ(text("elu(x, alpha=0.5)"), text("elu(x, 0.5)"));
  EXPECT_EQ(text("hardtanh(x, max=2)"), "clamp(x, -1, 2)");
  EXPECT_EQ(text("swish(x, beta=2)"), "x * sigmoid(2 * x)");
  EXPECT_EQ(text("x*sigmoid(x) + tanh(x)"), "x * sigmoid(x) + tanh(x)");
  EXPECT_EQ(text("relu(x - 1) + hardshrink(x, lambda=1/3)"),
            "max(x - 1, 0) + where(abs(x) > 1 / 3, x, 0)");
}

TEST(RegistryCall, ReadsWithoutTheRegistry) {
  for (const FunctionInfo& info : registry()) {
    const FunctionSpec spec = custom_function("act", info.name + "(x/2 - 1)");
    EXPECT_EQ(Expression::parse(spec.expression).text(), spec.expression) << info.name;
  }
}

TEST(RegistryCall, RefusesParametersOutOfRange) {
  EXPECT_EQ(refusal("celu(x, 0)"),
            "expression: function celu: alpha = 0 is out of range (greater than 0, at most 1e+06)");
  EXPECT_EQ(refusal("hardtanh(x, 2)"),
            "expression: function hardtanh: min = 2 is not less than max = 1");
  EXPECT_EQ(refusal("elu(x, log(-1))"), "expression: alpha of elu is not finite");
  EXPECT_EQ(refusal("elu(x, alpha=x)"), "expression: alpha of elu must not depend on x");
  EXPECT_EQ(refusal("elu(x, slope=2)"),
            "expression: elu has no parameter 'slope' (accepted: alpha)");
}

TEST(RegistryCall, IsNamedWhereANameIsMissed) {
  EXPECT_EQ(refusal("gelo(x)"), "expression: unknown function 'gelo' (nearest: gelu, celu, elu)");
}

}  // namespace fewbit::solver::call_test
