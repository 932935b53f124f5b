// The primitives for 16-bit results against double over all binades: every 9973rd float of either
// sign, however the device approximates.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/codegen/exact_math.hpp"
#include "tests/codegen/worst_error.hpp"

namespace fewbit::brief_math_test {

namespace brief = generated::math::brief;
using namespace exact;

/// The largest error relative to the exact result or to `least`, whichever is larger.
double worst(float (*function)(float), const test::Function& exact, float lo, float hi,
             double least = 0x1p-133) {
  const auto unit = [least](double y) { return std::max(std::fabs(y), least); };
  return test::worst_error(function, exact, unit, lo, hi);
}

TEST(BriefMath, ExponentialsKeepTheirTails) {
  EXPECT_LE(worst(
                brief::exp, [](double x) { return std::exp(x); }, -104.0f, 88.7f),
            0x1p-16);
  EXPECT_LE(worst(
                brief::expm1, [](double x) { return std::expm1(x); }, -200.0f, 88.7f),
            0x1p-14);
}

TEST(BriefMath, LogarithmsAreAccurateAroundTheirZero) {
  EXPECT_LE(worst(
                brief::log, [](double x) { return std::log(x); }, 1e-45f, 3.4e38f),
            0x1p-13);
  EXPECT_LE(worst(
                brief::log1p, [](double x) { return std::log1p(x); }, -0.9999999f, 3.4e38f),
            0x1p-13);
}

TEST(BriefMath, TanhIsAccurateAroundZeroAndItsShrinkDoesNotCancel) {
  EXPECT_LE(worst(
                brief::tanh, [](double x) { return std::tanh(x); }, -200.0f, 200.0f),
            0x1p-13);
  EXPECT_LE(worst(brief::tanhshrink, tanhshrink, -200.0f, 200.0f), 0x1p-15);
}

TEST(BriefMath, SigmoidAndSoftplusKeepTheirTails) {
  EXPECT_LE(worst(brief::sigmoid, sigmoid, -104.0f, 200.0f), 0x1p-16);
  EXPECT_LE(worst(brief::softplus, softplus, -104.0f, 200.0f), 0x1p-13);
  EXPECT_LE(worst(brief::tanh_softplus, tanh_softplus, -104.0f, 200.0f), 0x1p-16);
}

TEST(BriefMath, NormalFunctionsKeepTheirTails) {
  EXPECT_LE(worst(brief::normcdf, normcdf, -4.0f, 15.0f), 0x1p-11);
  EXPECT_LE(worst(brief::gelu, gelu, -4.0f, 15.0f), 0x1p-11);
  EXPECT_LE(worst(brief::normcdf, normcdf, -15.0f, -4.0f, 0x1p-127), 0x1p-8);
  EXPECT_LE(worst(brief::gelu, gelu, -15.0f, -4.0f, 0x1p-126), 0x1p-8);
  EXPECT_LE(worst(brief::normpdf, normpdf, -15.0f, 15.0f), 0x1p-16);
}

TEST(BriefMath, ErfIsAccurateAroundZero) {
  EXPECT_LE(worst(
                brief::erf, [](double x) { return std::erf(x); }, -15.0f, 15.0f),
            0x1p-13);
}

TEST(BriefMath, QuotientsTakeAnyDivisor) {
  EXPECT_LE(worst([](float x) { return brief::quotient(3.0f, x); },
                  [](double x) { return 3.0 / x; }, 1e-38f, 3.4e38f),
            0x1p-21);
}

TEST(BriefMath, InfinityGivesTheLimit) {
  const float infinity = INFINITY;
  for (const test::DeviceErrors& errors : test::kDeviceErrors) {
    test::device_errors = errors;
    EXPECT_EQ(brief::exp(-infinity), 0.0f);
    EXPECT_EQ(brief::exp(infinity), infinity);
    EXPECT_EQ(brief::expm1(-infinity), -1.0f);
    EXPECT_EQ(brief::expm1(infinity), infinity);
    EXPECT_EQ(brief::log(0.0f), -infinity);
    EXPECT_EQ(brief::log1p(infinity), infinity);
    EXPECT_EQ(brief::softplus(infinity), infinity);
    EXPECT_EQ(brief::softplus(-infinity), 0.0f);
    EXPECT_EQ(brief::sigmoid(-infinity), 0.0f);
    EXPECT_EQ(brief::tanh_softplus(-infinity), 0.0f);
    EXPECT_NEAR(brief::tanh(-infinity), -1.0f, 0x1p-21f);
    EXPECT_EQ(brief::tanhshrink(-infinity), -infinity);
    EXPECT_EQ(brief::erf(-infinity), -1.0f);
    EXPECT_EQ(brief::normcdf(infinity), 1.0f);
    EXPECT_EQ(brief::normcdf(-infinity), 0.0f);
    EXPECT_EQ(brief::normpdf(infinity), 0.0f);
    EXPECT_EQ(brief::gelu(infinity), infinity);
    EXPECT_EQ(brief::gelu(-infinity), 0.0f);
  }
}

TEST(BriefMath, NanStaysNan) {
  for (float (*function)(float) :
       {brief::exp, brief::expm1, brief::log, brief::log1p, brief::tanh, brief::tanhshrink,
        brief::sigmoid, brief::softplus, brief::tanh_softplus, brief::normcdf, brief::gelu,
        brief::normpdf, brief::erf, brief::reciprocal}) {
    EXPECT_TRUE(std::isnan(function(NAN)));
  }
}

}  // namespace fewbit::brief_math_test
