#include "functions/registry.hpp"

#include <set>

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "functions/quantizers.hpp"
#include "tests/functions/every_function.hpp"

namespace fewbit::solver::registry_test {

TEST(Registry, HasUniqueNamesAndAliases) {
  std::set<std::string> seen;
  for (const FunctionInfo& info : registry()) {
    EXPECT_TRUE(seen.insert(info.name).second) << info.name;
    for (const std::string& alias : info.aliases) EXPECT_TRUE(seen.insert(alias).second) << alias;
  }
  for (const auto& quantizer : quantizers()) EXPECT_TRUE(seen.insert(quantizer.name).second);
}

TEST(Registry, HasEveryDefaultInItsRange) {
  for (const FunctionInfo& info : registry()) {
    for (const ParameterInfo& p : info.parameters) {
      EXPECT_TRUE(p.lo_open ? p.initial > p.lo : p.initial >= p.lo) << info.name << " " << p.name;
      EXPECT_LE(p.initial, p.hi) << info.name << " " << p.name;
      EXPECT_NE(p.name, "x") << info.name;
    }
  }
}

TEST(Registry, NamesASourceForEveryFunction) {
  for (const FunctionInfo& info : registry()) EXPECT_FALSE(info.source.empty()) << info.name;
}

TEST(Registry, HasADerivativeForEveryFunctionOnBothDomains) {
  for (const std::string& name : every_function()) {
    const Expression f = expression_of(parse_function(name));
    EXPECT_NO_THROW(Derivative(f, -10, 10)) << name;
    EXPECT_NO_THROW(Derivative(f, -36, 36)) << name;
  }
}

TEST(Registry, UsesEveryParameterInItsExpression) {
  for (const FunctionInfo& info : registry()) {
    const std::string text = expression_of(parse_function(info.name)).text();
    for (const ParameterInfo& p : info.parameters) {
      EXPECT_NE(text.find(p.name), std::string::npos) << info.name << " " << p.name;
    }
  }
}

TEST(ParseFunction, FillsInDefaultsAndKeepsTheOrderOfTheRegistry) {
  const FunctionSpec spec = parse_function("softplus:threshold=5");
  ASSERT_EQ(spec.parameters.size(), 2u);
  EXPECT_EQ(spec.parameters[0], (std::pair<std::string, double>{"beta", 1.0}));
  EXPECT_EQ(spec.parameters[1], (std::pair<std::string, double>{"threshold", 5.0}));
}

TEST(ParseFunction, KnowsSwishAsSilu) {
  const FunctionSpec spec = parse_function("swish:beta=2");
  EXPECT_EQ(spec.name, "silu");
  EXPECT_EQ(spec.parameters[0].second, 2.0);
  EXPECT_EQ(&find_function("swish"), &find_function("silu"));
}

TEST(CustomFunction, KeepsTheExpressionInCanonicalText) {
  const FunctionSpec spec = custom_function("my_act", "x*sigmoid( 1.702*x )");
  EXPECT_EQ(spec.name, "my_act");
  EXPECT_EQ(spec.expression, "x * sigmoid(1.702 * x)");
  EXPECT_TRUE(spec.parameters.empty());
}

}  // namespace fewbit::solver::registry_test
