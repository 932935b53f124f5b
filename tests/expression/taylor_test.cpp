// taylor_bounds() is never less than any Taylor coefficient, and close where nothing cancels;
// taylor_coefficients() are these coefficients to rounding.

#include <boost/math/differentiation/autodiff.hpp>
#include <gtest/gtest.h>

#include "expression/decide.hpp"
#include "expression/taylor_bounds.hpp"
#include "tests/expression/random_expression.hpp"
#include "tests/expression/reference.hpp"

namespace fewbit::solver::taylor_test {

constexpr int kChecked = 9;

/// Every coefficient up to kChecked at x lies below its bound; what the reference cannot compute
/// counts as below.
bool bounds_hold(const Expression& f, const TaylorBounds& bounds, double x) {
  const auto exact = reference(f, boost::math::differentiation::make_fvar<Wide, kChecked>(Wide(x)));
  Wide factorial = 1;
  for (int k = 0; k <= kChecked; ++k) {
    if (k > 1) factorial *= k;
    const Wide coefficient = abs(exact.derivative(static_cast<size_t>(k))) / factorial;
    if (coefficient > Wide(bounds[static_cast<size_t>(k)]) + Wide(1e-30)) return false;
  }
  return true;
}

/// Rounding is relative to what the bounds at the point itself sum up.
bool coefficients_agree(const Expression& f, double x) {
  const auto exact = reference(f, boost::math::differentiation::make_fvar<Wide, kChecked>(Wide(x)));
  const TaylorCoefficients coefficients = taylor_coefficients(f, x);
  const TaylorBounds bounds = taylor_bounds(f, x, x);
  Wide factorial = 1;
  for (int k = 0; k <= kChecked; ++k) {
    if (k > 1) factorial *= k;
    const auto at = static_cast<size_t>(k);
    if (!std::isfinite(bounds[at])) continue;
    const Wide off = abs(exact.derivative(at) / factorial - Wide(coefficients[at]));
    if (off > Wide(1e-12) * Wide(bounds[at]) + Wide(1e-30)) return false;
  }
  return true;
}

TaylorBounds bounds_at(const char* text, double a, double b) {
  return taylor_bounds(Expression::parse(text), a, b);
}

TEST(TaylorBounds, HoldAtAnyPointOfAnyIntervalForRandomExpressions) {
  int finite = 0;
  EXPECT_TRUE(rc::check([&] {
    const Expression f = simplify(RandomExpression(true).make());
    const double a = *rc::gen::inRange(-3000, 3000) / 1000.0;
    const double width = std::ldexp(1.0, -*rc::gen::inRange(0, 20));
    const double x = a + width * *rc::gen::inRange(0, 101) / 100.0;
    const TaylorBounds bounds = taylor_bounds(f, a, a + width);
    RC_LOG() << f.text() << " on [" << a << ", " << a + width << "] at " << x;
    RC_ASSERT(bounds_hold(f, bounds, x));
    finite += std::isfinite(bounds.back());
  }));
  EXPECT_GT(finite, 80);
}

TEST(TaylorCoefficients, AreThoseOfRandomExpressionsToRounding) {
  EXPECT_TRUE(rc::check([] {
    const Expression f = simplify(RandomExpression(true).make());
    const double x = *rc::gen::inRange(-3000, 3000) / 1000.0;
    RC_LOG() << f.text() << " at " << x;
    RC_ASSERT(coefficients_agree(f, x));
  }));
}

TEST(TaylorCoefficients, HaveTheirSignsForEveryFunction) {
  for (const char* text : {"sqrt(x)", "exp(-x)", "expm1(-x)", "log(x)", "log1p(x)", "tanh(x)",
                           "sigmoid(x)", "softplus(x)", "erf(x)", "normcdf(x)", "sin(x)", "cos(x)",
                           "atan(x)", "x^-2.5", "3 - x^5", "sin(x)/(x + 1)"}) {
    EXPECT_TRUE(coefficients_agree(Expression::parse(text), 0.75)) << text;
  }
}

TEST(TaylorBounds, AreTheCoefficientsThemselvesWhereNothingCancels) {
  double factorial = 1.0;
  const TaylorBounds exponential = bounds_at("exp(x)", 0.0, 0.0);
  const TaylorBounds pole = bounds_at("1/(1 - x)", 0.0, 0.0);
  const TaylorBounds wave = bounds_at("sin(x)", 0.0, 0.0);
  for (int k = 1; k <= kTaylorOrder; ++k) {
    factorial *= k;
    const auto at = static_cast<size_t>(k);
    EXPECT_NEAR(exponential[at] * factorial, 1.0, 1e-9) << k;
    EXPECT_NEAR(pole[at], 1.0, 1e-9) << k;
    EXPECT_NEAR(wave[at] * factorial, k % 2, 1e-9) << k;
  }
}

TEST(TaylorBounds, OfStraightLinesAndParabolasEndWithTheirDegree) {
  const TaylorBounds line = bounds_at("0.01*x + 3", -1e6, 1e6);
  EXPECT_NEAR(line[1], 0.01, 1e-11);
  const TaylorBounds parabola = bounds_at("x^2 - x", -10, 10);
  EXPECT_NEAR(parabola[2], 1.0, 1e-9);
  for (size_t k = 2; k < line.size(); ++k) EXPECT_EQ(line[k], 0.0) << k;
  for (size_t k = 3; k < parabola.size(); ++k) EXPECT_EQ(parabola[k], 0.0) << k;
}

TEST(TaylorBounds, SeeASpikeThatNoSampleHits) {
  const TaylorBounds bounds = bounds_at("tanh(1e6*(x - 0.123456789))", -10, 10);
  EXPECT_GE(bounds[1], 1e6);
  EXPECT_GE(bounds[5], 1e28);
}

TEST(TaylorBounds, AreInfiniteWhereTheFunctionIsSingular) {
  EXPECT_EQ(bounds_at("log(x)", 0.0, 1.0)[3], INFINITY);
  EXPECT_EQ(bounds_at("1/x", -1.0, 1.0)[1], INFINITY);
  EXPECT_EQ(bounds_at("x^2.5", 0.0, 1.0)[3], INFINITY);
}

}  // namespace fewbit::solver::taylor_test
