// bounds(), slope_bounds() and the third derivative of random expressions contain what they
// enclose.

#include <boost/math/differentiation/autodiff.hpp>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "expression/decide.hpp"
#include "expression/derivative.hpp"
#include "expression/third_order.hpp"
#include "tests/expression/random_expression.hpp"
#include "tests/expression/reference.hpp"

namespace fewbit::solver::bounds_test {

/// The textbook formulas of the reference lose their 50 digits where tanh and the like are flat.
bool contains(const Interval& interval, const Wide& value) {
  const Wide slack = Wide(1e-35) * (1 + abs(value));
  return !(value + slack < Wide(interval.lower())) && !(value - slack > Wide(interval.upper()));
}

struct Box {
  double lo;
  double hi;
  double x;
};

Box any_box() {
  const auto point = [](int scale) { return *rc::gen::inRange(-scale, scale + 1) * (3.0 / scale); };
  double a = point(997);
  double b = *rc::gen::arbitrary<bool>() ? point(997) : a + 1e-6;
  if (a > b) std::swap(a, b);
  return {a, b, a + (b - a) * *rc::gen::inRange(0, 101) / 100.0};
}

TEST(Bounds, ContainTheExactDerivativesAtAnyPointOfAnyBox) {
  int checked = 0;
  EXPECT_TRUE(rc::check([&] {
    // Constants are folded, that is rounded, before anything is enclosed.
    const Expression f = simplify(RandomExpression(true).make());
    const Box box = any_box();
    RC_PRE(box.lo < box.hi);
    RC_LOG() << f.text() << " on [" << box.lo << ", " << box.hi << "] at " << box.x;
    const auto exact = reference(f, boost::math::differentiation::make_fvar<Wide, 3>(Wide(box.x)));
    try {
      const Derivative d(f, -4.0, 4.0);
      RC_ASSERT(contains(d.bounds(box.lo, box.hi, 0), exact.derivative(1)));
      RC_ASSERT(contains(d.slope_bounds(box.lo, box.hi, 0), exact.derivative(2)));
      RC_ASSERT(contains(d.tight_slope_bounds(box.lo, box.hi, 0), exact.derivative(2)));
      RC_ASSERT(contains(d.tight_slope_bounds(box.lo, box.hi, 0, 0.0), exact.derivative(2)));
      RC_ASSERT(contains(higher_derivatives(f, {box.lo, box.hi}).third, exact.derivative(3)));
      ++checked;
    } catch (const Error&) {
      // Too steep for double precision; the message is another test's.
    }
  }));
  EXPECT_GT(checked, 80);
}

TEST(Bounds, ContainWhatTheDerivativeComputesInDouble) {
  EXPECT_TRUE(rc::check([] {
    const Expression f = RandomExpression(true).make();
    const Box box = any_box();
    RC_PRE(box.lo < box.hi);
    try {
      const Derivative d(f, -4.0, 4.0);
      const double slack = 1e-13 * (1.0 + std::abs(d.value(box.x)));
      RC_ASSERT(d.value(box.x) >= d.bounds(box.lo, box.hi, 0).lower() - slack);
      RC_ASSERT(d.value(box.x) <= d.bounds(box.lo, box.hi, 0).upper() + slack);
    } catch (const Error&) {
    }
  }));
}

TEST(Bounds, ShrinkWithTheBox) {
  const Derivative d(Expression::parse("x*normcdf(x)"), -10, 10);
  const auto width = [&](double h) {
    const Interval bounds = d.bounds(0.3, 0.3 + h, 0);
    return bounds.upper() - bounds.lower();
  };
  EXPECT_NEAR(width(1e-4) / 1e-4, d.slope(0.3), 1e-3);
  EXPECT_NEAR(width(1e-6) / 1e-6, d.slope(0.3), 1e-5);
}

TEST(Bounds, OfTheSlopeAreTightWhereTermsCancel) {
  const Derivative d(Expression::parse("x*exp(x)/(exp(x) + exp(-x))"), -3, 3);
  const Interval loose = d.slope_bounds(1.0, 1.001, 0);
  const Interval tight = d.tight_slope_bounds(1.0, 1.001, 0);
  EXPECT_LT(tight.upper() - tight.lower(), 0.2 * (loose.upper() - loose.lower()));
}

}  // namespace fewbit::solver::bounds_test
