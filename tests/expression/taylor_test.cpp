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

/// The slope of a function of the language at u.
Wide slope(Op op, const Wide& u) {
  return reference_function(op, boost::math::differentiation::make_fvar<Wide, 1>(u)).derivative(1);
}

/// The share of a node's value that rounding may have changed in it and in what it comes of, the
/// largest of f's nodes at x: sums cancel, log(1 + u) is not exact for a small u (language.cpp),
/// waves of a large one are not. None of what is 0 and may be off.
Wide lost_to_rounding(const Expression& f, double x) {
  const std::vector<Node>& nodes = f.nodes();
  std::vector<Wide> values, errors;
  Wide lost = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto& [op, left, right, third, constant, parameter] = nodes[i];
    const Expression until({nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1},
                           f.parameters());
    const Wide value = reference(until, Wide(x));
    const Wide a = left < 0 ? Wide(0) : values[static_cast<size_t>(left)];
    const Wide b = right < 0 ? Wide(0) : values[static_cast<size_t>(right)];
    const Wide of_a = left < 0 ? Wide(0) : errors[static_cast<size_t>(left)];
    const Wide of_b = right < 0 ? Wide(0) : errors[static_cast<size_t>(right)];
    Wide error = of_a + of_b;
    if (op == Op::multiply) error = abs(a) * of_b + abs(b) * of_a;
    if (op == Op::divide) error = of_a / abs(b) + abs(value / b) * of_b;
    if (op == Op::power) error = of_a == 0 ? Wide(0) : Wide(abs(b * value / a) * of_a);
    if (op >= Op::sqrt) {
      error = abs(slope(op, a)) * of_a;
      lost = std::max(lost, of_a);  // of slopes that are exponentials
    }
    if (left >= 0) error += abs(value) * Wide(0x1p-52);
    values.push_back(value);
    errors.push_back(error);
    if (error > 0) lost = std::max(lost, Wide(error / abs(value)));
  }
  return lost;
}

/// Rounding is relative to what the bounds at the point itself sum up, and to what was lost before,
/// which a power or a slope multiplies.
bool coefficients_agree(const Expression& f, double x) {
  const auto exact = reference(f, boost::math::differentiation::make_fvar<Wide, kChecked>(Wide(x)));
  const TaylorCoefficients coefficients = taylor_coefficients(f, x);
  const TaylorBounds bounds = taylor_bounds(f, x, x);
  const Wide rounding = Wide(1e-12) + 16 * lost_to_rounding(f, x);
  if (!isfinite(rounding)) return true;
  Wide factorial = 1;
  for (int k = 0; k <= kChecked; ++k) {
    if (k > 1) factorial *= k;
    const auto at = static_cast<size_t>(k);
    if (!std::isfinite(bounds[at])) continue;
    const Wide off = abs(exact.derivative(at) / factorial - Wide(coefficients[at]));
    if (off > rounding * Wide(bounds[at]) + Wide(1e-30)) return false;
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
