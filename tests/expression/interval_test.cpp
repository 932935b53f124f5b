// Interval functions contain the exact value, taken from 50 digits, at any point of the interval.

#include <boost/math/differentiation/autodiff.hpp>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "expression/evaluate.hpp"
#include "tests/expression/reference.hpp"

namespace fewbit::solver::interval_test {

double any(double lo, double hi) {
  const double part = *rc::gen::inRange(0, 1000000001) / 1e9;
  return lo + part * (hi - lo);
}

/// A box around x: a point, neighbours, or wide.
Interval box(double x, double lo, double hi) {
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return Interval(x);
    case 1:
      return {std::max(lo, x - 1e-9), std::min(hi, x + 1e-12)};
    default:
      return {any(lo, x), any(x, hi)};
  }
}

bool contains(const Interval& interval, const Wide& value) {
  return Wide(interval.lower()) <= value && value <= Wide(interval.upper());
}

struct Domain {
  Op op;
  double lo;
  double hi;
};

void check_unary(const Domain& d) {
  EXPECT_TRUE(rc::check([&] {
    const double x = any(d.lo, d.hi);
    const Unary<Interval> bounds = unary(d.op, box(x, d.lo, d.hi));
    const auto exact =
        reference_function(d.op, boost::math::differentiation::make_fvar<Wide, 2>(Wide(x)));
    RC_ASSERT(contains(bounds.value, exact.derivative(0)));
    RC_ASSERT(contains(bounds.first, exact.derivative(1)));
    RC_ASSERT(contains(bounds.second, exact.derivative(2)));
  }));
}

TEST(IntervalFunctions, ContainTheExactValueAndItsDerivatives) {
  for (const Domain& d :
       {Domain{Op::sqrt, 1e-6, 100.0}, Domain{Op::exp, -700.0, 700.0},
        Domain{Op::expm1, -30.0, 50.0}, Domain{Op::log, 1e-3, 1e6}, Domain{Op::log1p, -0.999, 1e3},
        Domain{Op::tanh, -20.0, 20.0}, Domain{Op::sigmoid, -30.0, 20.0},
        Domain{Op::softplus, -30.0, 20.0}, Domain{Op::erf, -5.0, 5.0},
        Domain{Op::normcdf, -36.0, 5.0}, Domain{Op::sin, -20.0, 20.0}, Domain{Op::cos, -20.0, 20.0},
        Domain{Op::sin, -1e12, 1e12}, Domain{Op::cos, -1e12, 1e12},
        Domain{Op::atan, -50.0, 50.0}}) {
    SCOPED_TRACE(static_cast<int>(d.op));
    check_unary(d);
  }
}

TEST(IntervalFunctions, OfAWaveReachItsPeaksAndTroughsWhereTheyLie) {
  constexpr double kHalfPi = 1.5707963267948966;
  for (int k = -1000; k <= 1000; ++k) {
    const double sign = k % 2 == 0 ? 1.0 : -1.0;
    const double peak = kHalfPi + 2.0 * kHalfPi * k;  // of sin, or a trough
    const Interval sine = scalar::sin(Interval(peak - 0.1, peak + 0.2));
    EXPECT_EQ(sign > 0.0 ? sine.upper() : -sine.lower(), 1.0) << k;
    EXPECT_NEAR(sign > 0.0 ? sine.lower() : -sine.upper(), std::cos(0.2), 1e-12) << k;
    const double crest = 2.0 * kHalfPi * k;
    const Interval cosine = scalar::cos(Interval(crest - 0.1, crest + 0.2));
    EXPECT_EQ(sign > 0.0 ? cosine.upper() : -cosine.lower(), 1.0) << k;
    EXPECT_NEAR(sign > 0.0 ? cosine.lower() : -cosine.upper(), std::cos(0.2), 1e-12) << k;
  }
}

TEST(IntervalFunctions, OfAWaveAreItsRangeForHugeAndUnboundedArguments) {
  for (const auto wave : {static_cast<Interval (*)(const Interval&)>(scalar::sin),
                          static_cast<Interval (*)(const Interval&)>(scalar::cos)}) {
    for (const Interval& x :
         {Interval(-4.0, 4.0), Interval(1e17), Interval(1e300), Interval(-1.7e308, 1.7e308),
          Interval(0.0, INFINITY), whole_line(), Interval(NAN, NAN)}) {
      EXPECT_EQ(wave(x).lower(), -1.0);
      EXPECT_EQ(wave(x).upper(), 1.0);
    }
  }
}

TEST(IntervalFunctions, OfAtanStayWithinHalfPi) {
  const Interval all = scalar::atan(whole_line());
  EXPECT_GE(all.upper(), 1.5707963267948966);
  EXPECT_LE(all.upper(), 1.5707963267948968);
  EXPECT_EQ(all.lower(), -all.upper());
}

TEST(IntervalFunctions, ContainPowers) {
  EXPECT_TRUE(rc::check([] {
    const double c = *rc::gen::element(-3.0, -2.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 7.0);
    const double lo = c == std::floor(c) ? -4.0 : 0.0;
    const double x = any(lo, 4.0);
    RC_PRE(x != 0.0);
    RC_ASSERT(contains(scalar::pow(box(x, lo, 4.0), c), Wide(pow(Wide(x), Wide(c)))));
  }));
}

TEST(IntervalArithmetic, ContainsTheExactResult) {
  EXPECT_TRUE(rc::check([] {
    const double scale = *rc::gen::element(1.0, 1e-160, 1e150);
    const double x = scale * any(-3.0, 3.0);
    const double y = scale * any(-3.0, 3.0);
    const Interval a = box(x, -3.0 * scale, 3.0 * scale);
    const Interval b = box(y, -3.0 * scale, 3.0 * scale);
    RC_ASSERT(contains(a + b, Wide(x) + Wide(y)));
    RC_ASSERT(contains(a - b, Wide(x) - Wide(y)));
    RC_ASSERT(contains(a * b, Wide(x) * Wide(y)));
    if (y != 0.0) RC_ASSERT(contains(a / b, Wide(x) / Wide(y)));
  }));
}

TEST(IntervalArithmetic, TakesZeroTimesAnInfiniteBoundAsZero) {
  const Interval product = Interval(0.0, 1.0) * Interval(2.0, INFINITY);
  EXPECT_LE(product.lower(), 0.0);
  EXPECT_EQ(product.upper(), INFINITY);
  EXPECT_FALSE(is_unknown(Interval(0.0, 0.0) * whole_line()));
}

TEST(IntervalFunctions, IgnoreWhatLiesOutsideOfTheirDomain) {
  EXPECT_LE(scalar::sqrt(Interval(-1e-16, 4.0)).lower(), 0.0);
  EXPECT_TRUE(is_bounded(scalar::sqrt(Interval(-1e-16, 4.0))));
  EXPECT_TRUE(is_bounded(scalar::pow(Interval(-1e-16, 4.0), 2.5)));
  EXPECT_FALSE(is_bounded(scalar::sqrt(Interval(-4.0, -1.0))));
}

}  // namespace fewbit::solver::interval_test
