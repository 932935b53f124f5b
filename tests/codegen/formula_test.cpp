// What the simplification is for: forms that lose digits must not appear in the code.
#include "codegen/formula.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "codegen/function_code.hpp"
#include "codegen/guards.hpp"
#include "codegen/write_code.hpp"
#include "expression/expression.hpp"

namespace fewbit::codegen::formula_test {

using solver::Expression;

std::string value_code(const std::string& text, Expression::Parameter parameter = {"alpha", 1.0}) {
  const Expression expression = Expression::parse(text, {parameter});
  Formula formula(expression.parameters());
  std::set<std::string> primitives;
  return write_body(formula, translate(expression, formula, false), primitives);
}

std::string slope_code(const std::string& text, Expression::Parameter parameter = {"alpha", 1.0}) {
  const Expression expression = Expression::parse(text, {parameter});
  Formula formula(expression.parameters());
  const int slope = differentiate(formula, translate(expression, formula, false));
  std::set<std::string> primitives;
  return write_body(formula, slope, primitives);
}

TEST(Formula, CancelsFactorsInsteadOfRoundingThemTwice) {
  EXPECT_EQ(slope_code("alpha*expm1(x/alpha)"), "  return math::exp(x / alpha);\n");
  EXPECT_EQ(slope_code("softplus(alpha*x)/alpha"), "  return math::sigmoid(alpha * x);\n");
}

TEST(Formula, ReplacesDifferencesFromOne) {
  EXPECT_EQ(value_code("0.5*x*(1+tanh(x))"), "  return x * math::sigmoid(2.0f * x);\n");
  EXPECT_EQ(value_code("exp(x)-1"), "  return math::expm1(x);\n");
  EXPECT_EQ(value_code("log(1+exp(x))"), "  return math::softplus(x);\n");
  EXPECT_EQ(value_code("1/(1+exp(-x))"), "  return math::sigmoid(x);\n");
  EXPECT_EQ(value_code("x*tanh(softplus(x))"), "  return x * math::tanh_softplus(x);\n");
  EXPECT_EQ(value_code("0.5*x*(1+erf(x/1.4142135623730951))"), "  return x * math::normcdf(x);\n");
  EXPECT_EQ(value_code("x-tanh(x)"), "  return math::tanhshrink(x);\n");
  EXPECT_EQ(slope_code("x-tanh(x)"), "  return math::tanh_squared(x);\n");
  EXPECT_EQ(slope_code("x/(1+abs(x))"), "  return math::softsign_slope(x);\n");
}

TEST(Formula, WritesWavesAndArcTangents) {
  EXPECT_EQ(value_code("x + sin(x)^2"),
            "  const float t0 = math::sin(x);\n  return math::fma(t0, t0, x);\n");
  EXPECT_EQ(slope_code("sin(3*x)"), "  return 3.0f * math::cos(3.0f * x);\n");
  EXPECT_EQ(slope_code("cos(x)"), "  return -math::sin(x);\n");
  EXPECT_EQ(slope_code("atan(x)"), "  return 1.0f / math::fma(x, x, 1.0f);\n");
  EXPECT_EQ(value_code("1 - cos(x)"),
            "  const float t0 = math::sin(0.5f * x);\n  return 2.0f * (t0 * t0);\n");
  EXPECT_EQ(value_code("1 + cos(x)"),
            "  const float t0 = math::cos(0.5f * x);\n  return 2.0f * (t0 * t0);\n");
}

TEST(Formula, AddsLikeTermsAcrossAConstant) {
  EXPECT_EQ(value_code("x+3+x"), "  return 3.0f + 2.0f * x;\n");
  EXPECT_EQ(value_code("x+(3+x)"), "  return 3.0f + 2.0f * x;\n");
  EXPECT_EQ(slope_code("x*(x+3)/6"), "  return 0.5f + x / 3.0f;\n");
}

TEST(Formula, GivesAFunctionItsWholeConstant) {
  EXPECT_EQ(value_code("1.25*exp(x)"), "  return 1.25f * math::exp(x);\n");
  const std::string code = value_code("-0.7*exp(x)");
  EXPECT_TRUE(code.starts_with("  return -math::product(0.")) << code;
  EXPECT_EQ(value_code("0.7*x"), "  return 0.7f * x;\n");
}

TEST(Formula, NamesWhatIsUsedTwice) {
  EXPECT_EQ(value_code("exp(x)/(2+exp(x))"),
            "  const float t0 = math::exp(x);\n  return t0 / (2.0f + t0);\n");
}

TEST(Formula, TakesFactorsIntoTheBranches) {
  EXPECT_EQ(value_code("x*clamp(x+3,0,6)/6"),
            "  return x < -3.0f ? 0.0f : x > 3.0f ? x : x * (x + 3.0f) / 6.0f;\n");
}

TEST(Formula, SolvesLinearComparisonsForX) {
  EXPECT_EQ(value_code("where(2*x-1>0, x, 0)"), "  return x > 0.5f ? x : 0.0f;\n");
  EXPECT_EQ(value_code("where(1-x<0, x, 0)"), "  return x > 1.0f ? x : 0.0f;\n");
}

TEST(Formula, RoundsTheBoundOfAComparisonSoThatItsMeaningStays) {
  const double third = 1.0 / 3.0;  // its nearest float is above it
  const float below = std::nextafter(static_cast<float>(third), 0.0f);
  EXPECT_EQ(value_code("where(x>alpha, x, 0)", {"alpha", third}),
            "  return x > alpha ? x : 0.0f;\n");
  const std::string code = value_code("where(x>1/3, x, 0)");
  EXPECT_EQ(std::stof(code.substr(code.find("x > ") + 4)), below) << code;
}

TEST(Formula, RoundsTheBoundOfASlopeForItsOwnComparison) {
  // 0.7f is 0.699999988: the first float that is not below 0.7 is not left of the kink.
  EXPECT_EQ(slope_code("where(x < 0.7, 3*x, x)"), "  return x <= 0.7f ? 3.0f : 1.0f;\n");
}

TEST(Formula, FusesProductsInSums) {
  EXPECT_EQ(value_code("2+x*exp(x)"), "  return math::fma(x, math::exp(x), 2.0f);\n");
  EXPECT_EQ(value_code("2-x*exp(x)"), "  return math::fma(-x, math::exp(x), 2.0f);\n");
  EXPECT_EQ(value_code("alpha*(x+0.5*x^3)"),
            "  return alpha * x * math::fma(0.5f, x * x, 1.0f);\n");
}

std::string device_code(const std::string& text, Real real) {
  const Expression expression = Expression::parse(text, {{"alpha", 1.0}});
  Formula formula(expression.parameters());
  std::set<std::string> primitives;
  return write_body(formula, translate(expression, formula, false), primitives, real);
}

std::string brief_code(const std::string& text) {
  return device_code(text, Real::brief);
}

std::string warp_code(const std::string& text) {
  return device_code(text, Real::warp);
}

TEST(BriefFormula, ComputesAheadWhatItChooses) {
  EXPECT_EQ(brief_code("where(x>0, x, alpha*expm1(x))"),
            "  const float t0 = alpha * math::brief::expm1(x);\n"
            "  return x > 0.0f ? x : t0;\n");
}

TEST(BriefFormula, DividesByMultiplying) {
  EXPECT_EQ(brief_code("x/6"), "  return x * 0.16666667f;\n");
  EXPECT_EQ(brief_code("tanh(x)/alpha"),
            "  return math::brief::tanh(x) * math::brief::reciprocal(alpha);\n");
  EXPECT_EQ(brief_code("x/(1+abs(x))"),
            "  return math::brief::quotient(x, 1.0f + std::fabs(x));\n");
}

TEST(WarpFormula, DividesByTheReciprocal) {
  EXPECT_EQ(warp_code("tanh(x)/alpha"),
            "  return math::warp::quotient_by_normal(math::warp::tanh(x), alpha);\n");
  EXPECT_EQ(warp_code("x/(1+abs(x))"), "  return math::warp::quotient(x, 1.0f + std::fabs(x));\n");
}

TEST(WarpFormula, SharesWavesAndArcTangentsWithTheHost) {
  EXPECT_EQ(warp_code("cos(x)"), "  return math::cos(x);\n");
  EXPECT_EQ(brief_code("atan(x)"), "  return math::atan(x);\n");
  EXPECT_EQ(device_code("sin(x)", Real::double_precision), "  return std::sin(x);\n");
}

TEST(WarpFormula, ComputesAheadWhatItChooses) {
  EXPECT_EQ(warp_code("where(x>0, x, expm1(x))"),
            "  const float t0 = math::warp::expm1(x);\n  return x > 0.0f ? x : t0;\n");
}

TEST(BriefFormula, RoundsConstantsToFloats) {
  EXPECT_EQ(brief_code("0.7+0.3*tanh(x)"),
            "  return math::brief::fma(0.3f, math::brief::tanh(x), 0.7f);\n");
}

TEST(Derivative, AtAKinkIsTheOneOnTheLeft) {
  EXPECT_EQ(slope_code("where(x>=0, x, 0)"), "  return x > 0.0f ? 1.0f : 0.0f;\n");
  EXPECT_EQ(slope_code("where(x<1, x, 0)"), "  return x <= 1.0f ? 1.0f : 0.0f;\n");
  EXPECT_EQ(slope_code("where(-x>0, x, 0)"), "  return x <= 0.0f ? 1.0f : 0.0f;\n");
  EXPECT_EQ(slope_code("abs(x)"), "  return x > 0.0f ? 1.0f : -1.0f;\n");
  EXPECT_EQ(slope_code("where(abs(x)>1, x, 0)"),
            "  return x > 1.0f ? 1.0f : x <= -1.0f ? 1.0f : 0.0f;\n");
}

TEST(Derivative, OfAnyPowerIsWritten) {
  EXPECT_EQ(slope_code("x^3"), "  return 3.0f * (x * x);\n");
  EXPECT_EQ(slope_code("(2+x)^alpha"), "  return alpha * std::pow(2.0f + x, alpha - 1.0f);\n");
}

TEST(Guards, KeepNanAndLimits) {
  const Expression gelu = Expression::parse("x*normcdf(x)");
  Formula formula({});
  const int value = translate(gelu, formula, true);
  const Guards guards = find_guards(formula, value);
  EXPECT_LT(guards.low, -1e6f);
  EXPECT_EQ(guards.high, 0.0f);
  EXPECT_FALSE(guards.nan);
  const Expression step = Expression::parse("where(x>0,1,0)*x");
  Formula other({});
  EXPECT_TRUE(find_guards(other, translate(step, other, true)).nan);
}

TEST(FunctionCode, IsBriefAboutGelu) {
  const FunctionCode code =
      write_function(Expression::parse("0.5*x*(1+erf(x/sqrt(2)))"), Parameters::folded);
  EXPECT_NE(code.brief_text.find("{\n  return math::brief::gelu(x);\n}"), std::string::npos)
      << code.brief_text;
  EXPECT_FALSE(code.primitives.contains("brief"));
}

TEST(FunctionCode, LeavesUnusedArgumentsUnnamed) {
  const Expression threshold = Expression::parse("where(x>t, x, v)", {{"t", 0.0}, {"v", 0.0}});
  const std::string text = write_function(threshold, Parameters::arguments).text;
  EXPECT_NE(text.find("derivative(float x, float t, float /*v*/)"), std::string::npos) << text;
}

TEST(FunctionCode, OfDeeplySharedExpressionsStaysSmall) {
  std::string text = "x";
  for (int i = 0; i < 60; ++i) text = "tanh((" + text + ")^2)";
  const std::string code = write_function(Expression::parse(text), Parameters::folded).text;
  EXPECT_LT(code.size(), 60u * 300u);
}

}  // namespace fewbit::codegen::formula_test
