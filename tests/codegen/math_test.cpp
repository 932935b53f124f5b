// The float primitives against double over all binades: every 9973rd float of either sign.
#include "codegen/templates/math.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "tests/codegen/exact_math.hpp"
#include "tests/support/allowed_error.hpp"

namespace math_test {

namespace math = fewbit::generated::math;
using namespace fewbit::exact;
using Function = std::function<double(double)>;

/// The largest error in units of the last place of the exact result.
double worst_ulp(float (*function)(float), const Function& exact, float lo, float hi) {
  double worst = 0.0;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 9973) {
    const float x = math::from_bits(static_cast<uint32_t>(bits));
    if (!(x >= lo && x <= hi)) continue;
    const double expected = exact(static_cast<double>(x));
    const double error =
        std::fabs(static_cast<double>(function(x)) - expected) / fewbit::float_ulp(expected);
    worst = error <= worst ? worst : error;  // NaN sticks
  }
  return worst;
}

TEST(Math, ExpIsWithinSixTenthsOfAnUlpAndEightWhereSubnormal) {
  const auto exact = [](double x) { return std::exp(x); };
  EXPECT_LE(worst_ulp(math::exp, exact, -87.3f, 88.7f), 0.6);
  EXPECT_LE(worst_ulp(math::exp, exact, -110.0f, -87.3f), 0.8);
}

TEST(Math, Expm1IsWithinEightTenthsOfAnUlpUpTo16AndOneAndATenthBeyond) {
  const auto exact = [](double x) { return std::expm1(x); };
  EXPECT_LE(worst_ulp(math::expm1, exact, -110.0f, 16.0f), 0.8);
  EXPECT_LE(worst_ulp(math::expm1, exact, 16.0f, 88.7f), 1.1);
}

TEST(Math, LogarithmsAreWithinNineTenthsOfAnUlp) {
  EXPECT_LE(worst_ulp(
                math::log, [](double x) { return std::log(x); }, 1e-45f, 3.4e38f),
            0.9);
  EXPECT_LE(worst_ulp(
                math::log1p, [](double x) { return std::log1p(x); }, -0.9999999f, 3.4e38f),
            0.9);
}

TEST(Math, SigmoidKeepsItsTails) {
  EXPECT_LE(worst_ulp(math::sigmoid, sigmoid, -100.0f, 100.0f), 1.5);
  EXPECT_LE(
      worst_ulp(
          math::sigmoid_slope, [](double x) { return sigmoid(x) * sigmoid(-x); }, -100.0f, 100.0f),
      2.5);
}

TEST(Math, SoftplusIsWithinOneUlpAndAFifth) {
  EXPECT_LE(worst_ulp(math::softplus, softplus, -100.0f, 100.0f), 1.2);
}

TEST(Math, TanhIsWithinEightTenthsOfAnUlpAndItsSlopeWithinOneAndAHalf) {
  EXPECT_LE(worst_ulp(
                math::tanh, [](double x) { return std::tanh(x); }, -100.0f, 100.0f),
            0.8);
  EXPECT_LE(worst_ulp(math::sech2, sech2, -43.0f, 43.0f), 1.5);
  EXPECT_LE(
      worst_ulp(
          math::tanh_squared, [](double x) { return std::pow(std::tanh(x), 2.0); }, -40.0f, 40.0f),
      1.3);
}

TEST(Math, TanhshrinkDoesNotCancel) {
  EXPECT_LE(worst_ulp(math::tanhshrink, tanhshrink, -100.0f, 100.0f), 3.5);
}

TEST(Math, TanhshrinkOfDoublesDoesNotCancel) {
  for (const double x : {1e-90, 1e-12, 1e-5, 0.01, 0.3, 0.7, 0.999, 1.001, 5.0}) {
    for (const double side : {-x, x}) {
      const double expected = tanhshrink(side);
      EXPECT_NEAR(math::wide::tanhshrink(side), expected, 0x1p-50 * std::fabs(expected)) << side;
    }
  }
}

TEST(Math, SoftsignSlopeIsWithinOneAndAHalfUlp) {
  EXPECT_LE(worst_ulp(
                math::softsign_slope, [](double x) { return std::pow(1.0 + std::fabs(x), -2.0); },
                -1e15f, 1e15f),
            1.5);
}

TEST(Math, GateOfMishIsAccurate) {
  EXPECT_LE(
      worst_ulp(
          math::tanh_softplus, [](double x) { return std::tanh(softplus(x)); }, -30.0f, 100.0f),
      1.5);
  EXPECT_LE(worst_ulp(
                math::tanh_softplus_slope, [](double x) { return sech2(softplus(x)) * sigmoid(x); },
                -85.0f, 18.0f),
            5.0);
}

TEST(Math, NormalFunctionsKeepTheirTails) {
  EXPECT_LE(worst_ulp(math::normcdf, normcdf, -14.0f, 14.0f), 5.0);
  EXPECT_LE(worst_ulp(math::gauss, gauss, -14.5f, 14.5f), 1.0);
  EXPECT_LE(
      worst_ulp(
          math::normpdf, [](double x) { return gauss(x) * 0.39894228040143268; }, -14.0f, 14.0f),
      2.0);
}

TEST(Math, ErfIsWithinTwoUlp) {
  EXPECT_LE(worst_ulp(
                math::erf, [](double x) { return std::erf(x); }, -14.0f, 14.0f),
            2.0);
}

TEST(Math, SineAndCosineAreWithinNineTenthsOfAnUlpHoweverLargeTheAngle) {
  const auto sine = [](double x) { return std::sin(x); };
  const auto cosine = [](double x) { return std::cos(x); };
  EXPECT_LE(worst_ulp(math::sin, sine, -3.4e38f, 3.4e38f), 0.9);
  EXPECT_LE(worst_ulp(math::cos, cosine, -3.4e38f, 3.4e38f), 0.9);
}

/// The floats that come nearest to multiples of a quarter turn, below 2^20 and above.
TEST(Math, SineAndCosineKeepTheirZeros) {
  for (int exponent = -1; exponent < 128; ++exponent) {
    const double quarter = 1.5707963267948966;
    for (int i = 0; i < 1000; ++i) {
      const double turns = std::floor(std::ldexp(1.0 + i / 1000.0, exponent) / quarter);
      const auto x = static_cast<float>(turns * quarter);
      const double sine = std::sin(static_cast<double>(x));
      const double cosine = std::cos(static_cast<double>(x));
      EXPECT_NEAR(math::sin(x), sine, 0.9 * fewbit::float_ulp(sine)) << x;
      EXPECT_NEAR(math::cos(-x), cosine, 0.9 * fewbit::float_ulp(cosine)) << x;
    }
  }
}

TEST(Math, AtanIsWithinOneAndAHalfUlp) {
  EXPECT_LE(worst_ulp(
                math::atan, [](double x) { return std::atan(x); }, -3.4e38f, 3.4e38f),
            1.5);
}

TEST(Math, InfinityGivesTheLimit) {
  const float infinity = INFINITY;
  EXPECT_EQ(math::exp(-infinity), 0.0f);
  EXPECT_EQ(math::exp(infinity), infinity);
  EXPECT_EQ(math::expm1(-infinity), -1.0f);
  EXPECT_EQ(math::log(0.0f), -infinity);
  EXPECT_EQ(math::softplus(infinity), infinity);
  EXPECT_EQ(math::softplus(-infinity), 0.0f);
  EXPECT_EQ(math::tanh(-infinity), -1.0f);
  EXPECT_EQ(math::normcdf(infinity), 1.0f);
  EXPECT_EQ(math::normcdf(-infinity), 0.0f);
  EXPECT_EQ(math::normpdf(infinity), 0.0f);
  EXPECT_EQ(math::atan(-infinity), -1.5707964f);
  EXPECT_TRUE(std::isnan(math::sin(infinity)) && std::isnan(math::cos(-infinity)));
}

TEST(Math, NanStaysNan) {
  for (float (*function)(float) :
       {math::exp, math::expm1, math::log, math::log1p, math::sigmoid, math::softplus, math::tanh,
        math::sech2, math::tanhshrink, math::normcdf, math::normpdf, math::erf, math::tanh_softplus,
        math::sin, math::cos, math::atan}) {
    EXPECT_TRUE(std::isnan(function(NAN)));
  }
}

}  // namespace math_test
