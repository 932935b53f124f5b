#include <cmath>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "smoothed_support.hpp"

namespace fewbit::solver::smoothed_bias_test {
using namespace test;

/// The convolution with N(0, spread^2) of any function by adaptive quadrature between `cuts`.
template <class Function>
double convolved(const Function& function, const SmoothingNode& node, std::vector<double> cuts) {
  const double lo = node.mean - 9.0 * node.spread;
  const double hi = node.mean + 9.0 * node.spread;
  std::vector<double> ends = {lo};
  for (const double cut : cuts) {
    if (cut > lo && cut < hi) ends.push_back(cut);
  }
  ends.push_back(hi);
  const auto integrand = [&](double x) {
    return function(x) * normal_density((x - node.mean) / node.spread) / node.spread;
  };
  double sum = 0.0;
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    sum += boost::math::quadrature::gauss_kronrod<double, 31>::integrate(integrand, ends[i],
                                                                         ends[i + 1], 12, 1e-13);
  }
  return sum;
}

Table table_of(const StepFunction& step) {
  Table table;
  table.thresholds = step.thresholds;
  table.codes = step.codes;
  table.levels = step.levels;
  return table;
}

TEST(SmoothedDerivative, EqualsTheDirectConvolution) {
  const auto gelu_slope = [](double x) { return normal_cdf(x) + x * normal_density(x); };
  const SmoothedDerivative target(gelu(), smoothing_nodes(mixture(0.25, 4.0), kTau));
  for (size_t j = 0; j < target.nodes().size(); j += 37) {
    EXPECT_NEAR(target.values()[j], convolved(gelu_slope, target.nodes()[j], {-1.0, 1.0}), 1e-12);
  }
}

TEST(SmoothedDerivative, SeesANarrowBumpUnderAWideWeight) {
  const auto tanh_slope = [](double x) { return 1.0 / (std::cosh(x) * std::cosh(x)); };
  const SmoothedDerivative target(hyperbolic_tangent(), smoothing_nodes(normal(0.0, 100.0), kTau));
  for (size_t j = 0; j < target.nodes().size(); j += 7) {
    const SmoothingNode& node = target.nodes()[j];
    EXPECT_NEAR(target.values()[j], convolved(tanh_slope, node, {-20.0, 0.0, 20.0}), 1e-12);
  }
}

TEST(SmoothedDerivative, OfGeluHasItsClosedForm) {
  // (x Phi(x))' is Phi(x) + x phi(x); both convolve with N(0, t^2) in closed form.
  const SmoothedDerivative target(gelu(), smoothing_nodes(normal(-0.3, 1.7), kTau));
  for (size_t j = 0; j < target.nodes().size(); ++j) {
    const SmoothingNode& node = target.nodes()[j];
    const double variance = 1.0 + node.spread * node.spread;
    const double z = node.mean / std::sqrt(variance);
    const double expected = normal_cdf(z) + z * normal_density(z) / variance;
    EXPECT_NEAR(target.values()[j], expected, 1e-14) << node.mean;
  }
}

TEST(SmoothedDerivative, OfReluIsTheShareOfPositiveInputs) {
  const SmoothedDerivative target(relu(), smoothing_nodes(normal(0.2, 1.0), kTau));
  for (size_t j = 0; j < target.nodes().size(); ++j) {
    const SmoothingNode& node = target.nodes()[j];
    EXPECT_NEAR(target.values()[j], normal_cdf(node.mean / node.spread), 1e-14);
  }
}

TEST(SmoothedBias, EqualsTheDirectConvolutionOfTheError) {
  const StepFunction step{{-0.5, 0.1, 0.7}, {1, 0, 2, 1}, {-0.1, 0.4, 1.05}};
  const auto error = [&](double x) {
    const size_t interval = x > 0.7 ? 3 : x > 0.1 ? 2 : x > -0.5 ? 1 : 0;
    return step.levels[static_cast<size_t>(step.codes[interval])] -
           (normal_cdf(x) + x * normal_density(x));
  };
  const std::vector<SmoothingNode> nodes = {{-0.4, 0.6, 0.3}, {0.1, 0.9, 0.5}, {0.9, 0.4, 0.2}};
  double square = 0.0;
  for (const SmoothingNode& node : nodes) {
    const double b = convolved(error, node, step.thresholds);
    square += node.mass * b * b;
  }
  EXPECT_NEAR(rms_smoothed_bias(table_of(step), gelu(), nodes), std::sqrt(square), 1e-12);
}

TEST(SmoothedBias, OfTheExactTableIsNothing) {
  const auto nodes = smoothing_nodes(normal(0.0, 1.0), kTau);
  EXPECT_EQ(rms_smoothed_bias(table_of(one_bit(0.0)), relu(), nodes), 0.0);
}

TEST(SmoothedBias, OfAnEvenTableEqualsThatOfItsUnfoldedForm) {
  Table folded = table_of({{0.4, 1.1}, {2, 1, 0}, {0.1, 0.5, 0.9}});
  folded.symmetry = Symmetry::even;
  const Table plain = table_of({{-1.1, -0.4, 0.4, 1.1}, {0, 1, 2, 1, 0}, {0.1, 0.5, 0.9}});
  const auto nodes = smoothing_nodes(normal(0.3, 1.0), kTau);
  EXPECT_EQ(step_function_of(folded), step_function_of(plain));
  EXPECT_EQ(rms_smoothed_bias(folded, hyperbolic_tangent(), nodes),
            rms_smoothed_bias(plain, hyperbolic_tangent(), nodes));
}

TEST(SmoothedBias, OfAnUnbiasedTableThatCoversTheRangeIsNothing) {
  Table table;
  table.problem.form = Form::unbiased;
  table.levels = {-0.2, 0.5, 1.2};
  const auto nodes = smoothing_nodes(normal(0.0, 1.0), kTau);
  EXPECT_EQ(rms_smoothed_bias(table, gelu(), nodes), 0.0);
}

TEST(SmoothedBias, OfAnUnbiasedTableIsWhatItsOuterLevelsCutOff) {
  Table table;
  table.problem.form = Form::unbiased;
  table.levels = {0.25, 0.75};
  const auto cut_off = [](double x) {
    const double slope = 1.0 / std::cosh(x) / std::cosh(x);
    return std::clamp(slope, 0.25, 0.75) - slope;
  };
  const double inner = std::acosh(1.0 / std::sqrt(0.75));
  const double outer = std::acosh(2.0);
  const SmoothingNode node{0.4, 0.8, 1.0};
  EXPECT_NEAR(rms_smoothed_bias(table, hyperbolic_tangent(), {node}),
              std::abs(convolved(cut_off, node, {-outer, -inner, inner, outer})), 1e-12);
}

TEST(SmoothedBias, KnowsThatUnbiasedTablesAreNoStepFunctions) {
  Table table;
  table.problem.form = Form::unbiased;
  EXPECT_THROW(step_function_of(table), Error);
}
}  // namespace fewbit::solver::smoothed_bias_test
