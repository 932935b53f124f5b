#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "smoothed_support.hpp"

namespace fewbit::solver::smoothed_nodes_test {
using namespace test;

struct Totals {
  double mass = 0.0;
  double mean = 0.0;
  double variance = 0.0;
};

/// Mass, mean and variance of the whole layer: of means and scatter together.
Totals totals(const std::vector<SmoothingNode>& nodes) {
  Totals result;
  for (const SmoothingNode& node : nodes) {
    result.mass += node.mass;
    result.mean += node.mass * node.mean;
  }
  for (const SmoothingNode& node : nodes) {
    const double off = node.mean - result.mean;
    result.variance += node.mass * (off * off + node.spread * node.spread);
  }
  return result;
}

/// The share of inputs below x, on average over the nodes: the weight's own distribution function.
double share_below(const std::vector<SmoothingNode>& nodes, double x) {
  double sum = 0.0;
  for (const SmoothingNode& node : nodes) {
    sum += node.mass * normal_cdf((x - node.mean) / node.spread);
  }
  return sum;
}

TEST(SmoothingNodes, OfANormalWeightAddUpToThatWeight) {
  for (const double tau : {0.05, 0.5, 0.83, 0.95, 1.0}) {
    const auto nodes = smoothing_nodes(normal(0.3, 0.9), tau);
    for (const double x : {-2.0, -0.4, 0.3, 1.0}) {
      EXPECT_NEAR(share_below(nodes, x), normal_cdf((x - 0.3) / 0.9), 1e-13) << tau << ' ' << x;
    }
    EXPECT_NEAR(totals(nodes).variance, 0.81, 1e-12) << tau;
  }
}

TEST(SmoothingNodes, OfANormalWeightIntegrateSquaresOfSmoothedSteps) {
  // b of a unit step at s is Phi((mean - s) / spread); its mean square over units is the
  // probability that two inputs of one unit both exceed s. At s = mean: 1/4 + asin(r) / (2 pi)
  // with r the correlation 1 - tau^2 of the two (Sheppard).
  const auto nodes = smoothing_nodes(normal(0.0, 1.0), kTau);
  double square = 0.0;
  for (const SmoothingNode& node : nodes) {
    const double b = normal_cdf(node.mean / node.spread);
    square += node.mass * b * b;
  }
  const double correlation = 1.0 - kTau * kTau;
  EXPECT_NEAR(square, 0.25 + std::asin(correlation) / (2.0 * std::numbers::pi), 1e-14);
}

// A table whose smoothed bias is a hundredth of its error, so that b^2 is a small remainder.
StepFunction smooth_table() {
  return {{-0.5237222395, 0.0, 0.5237222395},
          {0, 1, 2, 3},
          {-0.0791024214, 0.3020955138, 0.6979044862, 1.0791024214}};
}

double bias_of_smooth_table(const std::vector<SmoothingNode>& nodes) {
  return rms_smoothed_bias(smooth_table(), SmoothedDerivative(gelu(), nodes));
}

TEST(SmoothingNodes, OfANormalWeightAreEnoughForASmallBias) {
  const double width = std::sqrt(1.0 - kTau * kTau);
  std::vector<SmoothingNode> fine;
  double total = 0.0;
  for (int i = -450; i <= 450; ++i) {
    fine.push_back({0.02 * i * width, kTau, normal_density(0.02 * i)});
    total += fine.back().mass;
  }
  for (SmoothingNode& node : fine) node.mass /= total;
  const double expected = bias_of_smooth_table(fine);
  EXPECT_NEAR(bias_of_smooth_table(smoothing_nodes(normal(0.0, 1.0), kTau)), expected,
              1e-11 * expected);
}

TEST(SmoothingNodes, OfAHistogramAreEnoughForASmallBias) {
  const std::vector<double> edges = {-3.0, -1.0, -0.9, 0.2, 0.7, 2.5};
  const std::vector<double> masses = {0.2, 0.1, 0.3, 0.25, 0.15};
  const auto nodes = smoothing_nodes(histogram(edges, masses), kTau);
  const Totals sum = totals(nodes);
  std::vector<SmoothingNode> fine;
  for (size_t bin = 0; bin < masses.size(); ++bin) {
    const int count = 4000;
    for (int i = 0; i < count; ++i) {
      const double x = edges[bin] + (edges[bin + 1] - edges[bin]) * (i + 0.5) / count;
      fine.push_back({sum.mean + std::sqrt(1.0 - kTau * kTau) * (x - sum.mean),
                      kTau * std::sqrt(sum.variance), masses[bin] / count});
    }
  }
  const double expected = bias_of_smooth_table(fine);
  EXPECT_NEAR(bias_of_smooth_table(nodes), expected, 1e-6 * expected);
}

TEST(SmoothingNodes, OfAMixtureHaveItsVariance) {
  const Totals sum = totals(smoothing_nodes(mixture(0.25, 4.0), kTau));
  EXPECT_NEAR(sum.mass, 1.0, 1e-13);
  EXPECT_NEAR(sum.mean, 0.0, 1e-13);
  EXPECT_NEAR(sum.variance, (16.0 - 0.0625) / (2.0 * std::log(16.0)), 1e-11);
}

TEST(SmoothingNodes, OfAMixtureIntegrateSquaresOfSmoothedSteps) {
  // As above for every sigma, so the same number; a step elsewhere checks the sum over sigma
  // against a far finer one.
  const auto nodes = smoothing_nodes(mixture(0.25, 4.0), kTau);
  const double step = 0.7;
  double square = 0.0;
  for (const SmoothingNode& node : nodes) {
    const double b = normal_cdf((node.mean - step) / node.spread);
    square += node.mass * b * b;
  }
  double reference = 0.0;
  const int count = 4000;
  for (int i = 0; i < count; ++i) {
    const double sigma = 0.25 * std::pow(16.0, (i + 0.5) / count);
    for (const SmoothingNode& node : smoothing_nodes(normal(0.0, sigma), kTau)) {
      const double b = normal_cdf((node.mean - step) / node.spread);
      reference += node.mass * b * b / count;
    }
  }
  EXPECT_NEAR(square, reference, 1e-8);
}

WeightSpec laplace(double mean, double scale) {
  return {"laplace", {{"mean", mean}, {"scale", scale}}, {}, {}, {}};
}

WeightSpec student_t(double mean, double scale, double degrees) {
  return {"student-t", {{"mean", mean}, {"scale", scale}, {"degrees", degrees}}, {}, {}, {}};
}

TEST(SmoothingNodes, OfALaplaceWeightAddUpToThatWeight) {
  for (const double tau : {0.5, kTau}) {
    const auto nodes = smoothing_nodes(laplace(0.3, 2.0), tau);
    for (const double x : {-9.0, -0.4, 0.29, 0.3}) {
      EXPECT_NEAR(share_below(nodes, x), 0.5 * std::exp((x - 0.3) / 2.0), 1e-12) << tau << ' ' << x;
    }
    EXPECT_NEAR(totals(nodes).mass, 1.0, 1e-13);
    EXPECT_NEAR(totals(nodes).mean, 0.3, 1e-12);
    EXPECT_NEAR(totals(nodes).variance, 8.0, 1e-11);
  }
}

TEST(SmoothingNodes, OfAStudentTWeightAddUpToThatWeight) {
  for (const double degrees : {2.5, 5.0, 30.0, 1000.0, 1e7}) {
    const auto nodes = smoothing_nodes(student_t(-0.3, 2.0, degrees), kTau);
    const boost::math::students_t_distribution<double> expected(degrees);
    for (const double x : {-50.0, -3.0, -0.31, 0.5, 4.0}) {
      EXPECT_NEAR(share_below(nodes, x), cdf(expected, (x + 0.3) / 2.0), 1e-11) << degrees;
    }
    EXPECT_NEAR(totals(nodes).mass, 1.0, 1e-13);
  }
  const Totals sum = totals(smoothing_nodes(student_t(0.0, 2.0, 6.0), kTau));
  EXPECT_NEAR(sum.variance, 4.0 * 6.0 / 4.0, 1e-9);
}

/// The mean over log sigma of what the nodes of a normal give, in steps of a hundredth.
template <class Density>
double bias_by_fine_steps(const Density& density) {
  double square = 0.0;
  double total = 0.0;
  for (double t = -12.0; t < 4.0; t += 0.02) {
    const double mass = density(t);
    if (mass < 1e-20) continue;
    const double bias = bias_of_smooth_table(smoothing_nodes(normal(0.0, std::exp(t)), kTau));
    square += mass * bias * bias;
    total += mass;
  }
  return std::sqrt(square / total);
}

TEST(SmoothingNodes, OfScaleMixturesAreEnoughForASmallBias) {
  const double laplace_bias =
      bias_by_fine_steps([](double t) { return std::exp(2.0 * t - 0.5 * std::exp(2.0 * t)); });
  EXPECT_NEAR(bias_of_smooth_table(smoothing_nodes(laplace(0.0, 1.0), kTau)), laplace_bias,
              1e-9 * laplace_bias);
  const double student_bias = bias_by_fine_steps(
      [](double t) { return std::exp(10.0 - 20.0 * t - 10.0 * std::exp(-2.0 * t)); });
  EXPECT_NEAR(bias_of_smooth_table(smoothing_nodes(student_t(0.0, 1.0, 20.0), kTau)), student_bias,
              1e-10 * student_bias);
}

TEST(SmoothingNodes, OfAStudentTWithoutSecondMomentDoNotExistUnlessAskedFor) {
  EXPECT_THROW(smoothing_nodes(student_t(0.0, 1.0, 2.0), kTau), Error);
  EXPECT_EQ(smoothing_nodes(student_t(0.0, 1.0, 2.0), kTau, true),
            smoothing_nodes(normal(0.0, 1.0), kTau));
}

TEST(SmoothingNodes, OfAHistogramHaveItsMeanAndVariance) {
  const auto nodes = smoothing_nodes(histogram({-1.0, 0.0, 0.5, 3.0}, {0.2, 0.5, 0.3}), kTau);
  const double mean = 0.2 * -0.5 + 0.5 * 0.25 + 0.3 * 1.75;
  const double square = 0.2 / 3.0 + 0.5 * 0.25 / 3.0 + 0.3 * (9.0 + 1.5 + 0.25) / 3.0;
  EXPECT_NEAR(totals(nodes).mass, 1.0, 1e-14);
  EXPECT_NEAR(totals(nodes).mean, mean, 1e-14);
  EXPECT_NEAR(totals(nodes).variance, square - mean * mean, 1e-13);
}

TEST(SmoothingNodes, OfAFineHistogramAreFew) {
  std::vector<double> edges = {-5.0};
  std::vector<double> masses;
  double sum = 0.0;
  for (int i = 0; i < 1024; ++i) {
    edges.push_back(-5.0 + 10.0 * (i + 1) / 1024);
    masses.push_back(normal_cdf(edges[static_cast<size_t>(i) + 1]) -
                     normal_cdf(edges[static_cast<size_t>(i)]));
    sum += masses.back();
  }
  for (double& mass : masses) mass /= sum;
  const auto nodes = smoothing_nodes(histogram(edges, masses), kTau);
  EXPECT_LE(nodes.size(), 100u);
  for (const double x : {-1.0, 0.0, 0.5}) {
    EXPECT_NEAR(share_below(nodes, x), normal_cdf(x), 1e-4) << x;
  }
}

TEST(SmoothingNodes, OfUnitsAreTheUnits) {
  WeightSpec spec = histogram({-1.0, 1.0}, {1.0});
  spec.units = {{-0.5, 0.7, 0.25}, {0.2, 0.9, 0.75}};
  const std::vector<SmoothingNode> expected = {{-0.5, 0.7, 0.25}, {0.2, 0.9, 0.75}};
  EXPECT_EQ(smoothing_nodes(spec, kTau), expected);
}

TEST(SmoothingNodes, OfAUniformWeightDoNotExistUnlessAskedFor) {
  try {
    smoothing_nodes(WeightSpec{}, kTau);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "weight: the smoothed objective needs to know how units scatter: weight uniform "
                 "does not say, accepted are normal, mixture, laplace, student-t with more than 2 "
                 "degrees, histogram and samples");
  }
  EXPECT_EQ(smoothing_nodes(WeightSpec{}, kTau, true), smoothing_nodes(normal(0.0, 1.0), kTau));
}

TEST(SmoothingNodes, RejectATauThatIsNoShareOfSigma) {
  for (const double tau : {0.0, -0.5, 1.01, std::nan("")}) {
    EXPECT_THROW(smoothing_nodes(normal(0.0, 1.0), tau), Error) << tau;
  }
}
}  // namespace fewbit::solver::smoothed_nodes_test
