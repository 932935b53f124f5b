#include <cmath>
#include <limits>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>

#include "tests/weights/support.hpp"

namespace fewbit::solver::smooth_test {
using Quadrature = boost::math::quadrature::gauss_kronrod<double, 61>;

double mass_of(const Weight& weight) {
  const auto density = [&](double x) { return weight.density(x); };
  const auto [lo, hi] = weight.support();
  const double middle = 0.5 * (lo + hi);
  return Quadrature::integrate(density, lo, middle, 8, 1e-14) +
         Quadrature::integrate(density, middle, hi, 8, 1e-14);
}

double normal_density(double x, double sigma) {
  return std::exp(-0.5 * (x / sigma) * (x / sigma)) / (sigma * std::sqrt(2.0 * M_PI));
}

/// By its definition: the mean over log sigma of the normal's density.
double mixture_by_integration(double x, double low, double high) {
  const auto at = [&](double logarithm) { return normal_density(x, std::exp(logarithm)); };
  const double length = std::log(high / low);
  return Quadrature::integrate(at, std::log(low), std::log(high), 5, 1e-14) / length;
}

TEST(UniformWeight, IsOneEverywhere) {
  const auto weight = make_weight({});
  EXPECT_EQ(weight->density(-1e6), 1.0);
  EXPECT_TRUE(weight->is_even());
  EXPECT_FALSE(weight->is_integrable());
  EXPECT_EQ(weight->support().hi, std::numeric_limits<double>::infinity());
  EXPECT_EQ(weight->support().lo, -std::numeric_limits<double>::infinity());
}

TEST(NormalWeight, HasTheNormalDensity) {
  const auto weight = make_weight(normal_spec(0.5, 2.0));
  EXPECT_NEAR(weight->density(0.5), 0.19947114020071635, 1e-16);
  EXPECT_NEAR(weight->density(2.5) / weight->density(0.5), std::exp(-0.5), 1e-15);
  EXPECT_NEAR(mass_of(*weight), 1.0, 1e-13);
}

TEST(NormalWeight, IsEvenOnlyAroundZero) {
  EXPECT_TRUE(make_weight(normal_spec(0.0, 3.0))->is_even());
  EXPECT_FALSE(make_weight(normal_spec(0.1, 3.0))->is_even());
}

TEST(NormalWeight, SupportLeavesOutLessThanTenToTheMinusTwenty) {
  const Domain support = make_weight(normal_spec(1.0, 0.25))->support();
  EXPECT_LT(std::erfc((support.hi - 1.0) / 0.25 / std::sqrt(2.0)), 1e-20);
  EXPECT_LT(std::erfc((1.0 - support.lo) / 0.25 / std::sqrt(2.0)), 1e-20);
}

TEST(LaplaceWeight, HasItsDensityWithACornerAtTheMean) {
  const auto weight = make_weight(pair_spec("laplace", {"mean", 0.5}, {"scale", 2.0}));
  EXPECT_EQ(weight->density(0.5), 0.25);
  EXPECT_NEAR(weight->density(-3.5), 0.25 * std::exp(-2.0), 1e-16);
  EXPECT_EQ(weight->breaks(), std::vector<double>{0.5});
  EXPECT_FALSE(weight->is_even());
  EXPECT_LT(std::exp((weight->support().lo - 0.5) / 2.0), 1e-20);
  const auto density = [&](double x) { return weight->density(x); };
  EXPECT_NEAR(Quadrature::integrate(density, 0.5, weight->support().hi, 8, 1e-14), 0.5, 1e-13);
}

TEST(StudentTWeight, HasItsDensityAtAnyDegrees) {
  for (const double degrees : {0.05, 0.7, 1.0, 3.0, 200.0, 1e6}) {
    const auto weight = make_weight(student_t_spec(-1.0, 2.0, degrees));
    const boost::math::students_t_distribution<double> expected(degrees);
    for (const double x : {-1.0, -0.9, 3.0, 50.0, -1e6}) {
      const double density = pdf(expected, (x + 1.0) / 2.0) / 2.0;
      EXPECT_NEAR(weight->density(x), density, 1e-12 * density) << degrees << ' ' << x;
    }
  }
  const auto cauchy = make_weight(student_t_spec(0.0, 1.0, 1.0));
  EXPECT_NEAR(cauchy->density(3.0), 0.1 * M_1_PI, 1e-16);
  EXPECT_TRUE(cauchy->is_even());
  const auto normal = make_weight(student_t_spec(0.0, 1.0, 1e9));
  EXPECT_NEAR(normal->density(2.0), normal_density(2.0, 1.0), 1e-9);
}

TEST(StudentTWeight, SupportLeavesOutLessThanTenToTheMinusTwenty) {
  for (const double degrees : {0.3, 0.5, 1.0, 2.5, 30.0, 1e6}) {
    const Domain support = make_weight(student_t_spec(0.0, 1.0, degrees))->support();
    const boost::math::students_t_distribution<double> expected(degrees);
    EXPECT_LT(2.0 * cdf(expected, support.lo), 1e-20) << degrees;
    EXPECT_GT(2.0 * cdf(expected, 0.5 * support.lo), 0.9e-20) << degrees;
    EXPECT_EQ(support.hi, -support.lo);
  }
}

TEST(StudentTWeight, HasNoFiniteSupportWhereTailsReachBeyondEveryNumber) {
  for (const double degrees : {1e-3, 0.05, 0.15}) {
    const auto weight = make_weight(student_t_spec(0.0, 1.0, degrees));
    EXPECT_TRUE(std::isinf(weight->support().hi)) << degrees;
    EXPECT_FALSE(weight->is_integrable()) << degrees;
    EXPECT_GT(weight->density(10.0), 0.0);
  }
  EXPECT_TRUE(make_weight(student_t_spec(0.0, 1.0, 0.25))->is_integrable());
  EXPECT_FALSE(make_weight(student_t_spec(0.0, 1e12, 0.22))->is_integrable());
}

TEST(MixtureWeight, EqualsTheIntegralOverSigmaFromZeroToTheFarTail) {
  for (const auto& [low, high] : {std::pair{0.25, 4.0}, {0.5, 0.6}, {1e-3, 1e3}, {1.0, 1.0001}}) {
    const auto weight = make_weight(mixture_spec(low, high));
    for (const double x : {0.0, 1e-12, 1e-3, 0.05, 0.2, 0.24, 0.26, 0.5, 1.0, 3.0, 9.0, 20.0}) {
      const double expected = mixture_by_integration(x * high, low, high);
      EXPECT_NEAR(weight->density(x * high), expected, 1e-12 * expected) << low << " at " << x;
    }
  }
}

TEST(MixtureWeight, HasNoStepWhereTheFormulaChanges) {
  const double low = 0.25;
  const double high = 4.0;
  const auto weight = make_weight(mixture_spec(low, high));
  const double change = 1.0 / std::sqrt(1.0 / (low * low) - 1.0 / (high * high));
  for (int i = -100; i <= 100; ++i) {
    const double x = change * (1.0 + 1e-4 * i);
    const double expected = mixture_by_integration(x, low, high);
    ASSERT_NEAR(weight->density(x), expected, 3e-15 * expected);
  }
}

TEST(MixtureWeight, HasMassOne) {
  EXPECT_NEAR(mass_of(*make_weight(mixture_spec(0.25, 4.0))), 1.0, 1e-13);
  EXPECT_NEAR(mass_of(*make_weight(mixture_spec(1.0, 1.1))), 1.0, 1e-13);
}

TEST(MixtureWeight, IsEvenWithItsFinestScale) {
  const auto weight = make_weight(mixture_spec(0.25, 4.0));
  EXPECT_TRUE(weight->is_even());
  EXPECT_EQ(weight->density(-0.7), weight->density(0.7));
  EXPECT_EQ(weight->scale(), 0.25);
  EXPECT_GE(weight->support().hi, 40.0);
}
}  // namespace fewbit::solver::smooth_test
