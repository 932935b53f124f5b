// The primitives for float on a device against double over all binades: every 9973rd float of
// either sign, however the device approximates.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/codegen/exact_math.hpp"
#include "tests/codegen/worst_error.hpp"
#include "tests/support/allowed_error.hpp"

namespace fewbit::warp_math_test {

namespace warp = generated::math::warp;
using namespace exact;

/// The largest error in ulp.
double worst_ulp(float (*function)(float), const test::Function& exact, float lo, float hi) {
  return test::worst_error(function, exact, float_ulp, lo, hi);
}

/// The largest error in units of 2^-24 or 2 ulp, whichever is larger.
double worst(float (*function)(float), const test::Function& exact, float lo, float hi) {
  const auto unit = [](double y) { return std::max(0x1p-24, 2.0 * float_ulp(y)); };
  return test::worst_error(function, exact, unit, lo, hi);
}

TEST(WarpMath, QuotientsAreWithinAnUlpAndTakeAnyDivisor) {
  const auto exact = [](double x) { return 3.0 / x; };
  const auto by_normal = [](float x) { return warp::quotient_by_normal(3.0f, x); };
  const auto by_any = [](float x) { return warp::quotient(3.0f, x); };
  EXPECT_LE(worst_ulp(by_normal, exact, 1.2e-38f, 8.5e37f), 1.0);
  EXPECT_LE(worst_ulp(by_any, exact, 1.2e-38f, 8.5e37f), 1.0);
  EXPECT_LE(worst_ulp(by_any, exact, 8.5e37f, 3.4e38f), 5.0);
  EXPECT_LE(worst_ulp([](float x) { return warp::quotient_by_normal(x, 3.0f); },
                      [](double x) { return x / 3.0; }, -3.4e38f, 3.4e38f),
            1.0);
}

TEST(WarpMath, ExponentialsAreWithinOneUlpAndAHalf) {
  EXPECT_LE(worst_ulp(
                warp::decay, [](double x) { return std::exp(x); }, -87.3f, 88.0f),
            1.2);
  EXPECT_LE(worst_ulp(
                warp::expm1, [](double x) { return std::expm1(x); }, -110.0f, 88.7f),
            1.5);
}

TEST(WarpMath, TanhIsWithinTwoUlpAndItsShrinkDoesNotCancel) {
  EXPECT_LE(worst_ulp(
                warp::tanh, [](double x) { return std::tanh(x); }, -100.0f, 100.0f),
            2.0);
  EXPECT_LE(worst_ulp(warp::tanhshrink, tanhshrink, -100.0f, 100.0f), 5.0);
}

TEST(WarpMath, GatesAreAccurateToTheirTop) {
  EXPECT_LE(worst(warp::sigmoid, sigmoid, -200.0f, 200.0f), 1.0);
  EXPECT_LE(worst(warp::softplus, softplus, -200.0f, 200.0f), 1.0);
  EXPECT_LE(worst(warp::tanh_softplus, tanh_softplus, -200.0f, 200.0f), 1.0);
  EXPECT_LE(worst(warp::normcdf, normcdf, -20.0f, 20.0f), 1.0);
}

TEST(WarpMath, GeluIsAccurateAndKeepsMostOfItsTail) {
  const auto scaled = [](float x) { return warp::gelu(x) / std::max(1.0f, std::fabs(x)); };
  EXPECT_LE(
      worst(
          scaled, [](double x) { return gelu(x) / std::max(1.0, std::fabs(x)); }, -20.0f, 20.0f),
      1.0);
  EXPECT_LE(test::worst_error(
                warp::gelu, gelu, [](double y) { return std::fabs(y); }, -12.0f, -1.0f),
            0x1p-12);
}

TEST(WarpMath, InfinityGivesTheLimit) {
  const float infinity = INFINITY;
  for (const test::DeviceErrors& errors : test::kDeviceErrors) {
    test::device_errors = errors;
    EXPECT_EQ(warp::quotient(-infinity, 3.0f), -infinity);
    EXPECT_EQ(warp::quotient(3.0f, infinity), 0.0f);
    EXPECT_EQ(warp::quotient(3.0f, 0.0f), infinity);
    EXPECT_EQ(warp::quotient_by_normal(-infinity, 3.0f), -infinity);
    EXPECT_EQ(warp::decay(-infinity), 0.0f);
    EXPECT_EQ(warp::expm1(-infinity), -1.0f);
    EXPECT_EQ(warp::expm1(infinity), infinity);
    EXPECT_EQ(warp::softplus(infinity), infinity);
    EXPECT_EQ(warp::softplus(-infinity), 0.0f);
    EXPECT_EQ(warp::sigmoid(infinity), 1.0f);
    EXPECT_EQ(warp::sigmoid(-infinity), 0.0f);
    EXPECT_EQ(warp::tanh_softplus(-infinity), 0.0f);
    EXPECT_EQ(warp::tanh(-infinity), -1.0f);
    EXPECT_EQ(warp::tanhshrink(-infinity), -infinity);
    EXPECT_EQ(warp::normcdf(infinity), 1.0f);
    EXPECT_EQ(warp::normcdf(-infinity), 0.0f);
    EXPECT_EQ(warp::gelu(infinity), infinity);
    EXPECT_EQ(warp::gelu(-infinity), 0.0f);
  }
}

TEST(WarpMath, NanStaysNan) {
  for (float (*function)(float) :
       {warp::decay, warp::expm1, warp::tanh, warp::tanhshrink, warp::sigmoid, warp::softplus,
        warp::tanh_softplus, warp::normcdf, warp::gelu}) {
    EXPECT_TRUE(std::isnan(function(NAN)));
  }
  EXPECT_TRUE(std::isnan(warp::quotient(NAN, 3.0f)));
  EXPECT_TRUE(std::isnan(warp::quotient_by_normal(NAN, 3.0f)));
}

}  // namespace fewbit::warp_math_test
