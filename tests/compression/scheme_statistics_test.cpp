// What the papers derive of errors and gradients, measured with fixed seeds.
#include <cmath>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "codecs/codec.hpp"
#include "tests/support/compression_model.hpp"

namespace fewbit::scheme_statistics_test {

using torch::autograd::grad;

/// The gradient of a sum over f(x) * dy for what is asked, with what f keeps coded or not.
template <class Function>
at::Tensor gradient(Function f, const at::Tensor& of, const at::Tensor& dy,
                    Compressor* compressor) {
  at::Tensor y;
  {
    std::optional<CompressionScope> scope;
    if (compressor != nullptr) scope.emplace(*compressor);
    y = f();
  }
  return grad({y}, {of}, {dy})[0];
}

/// The squared error of a convolution's gradient over what the codec's error, the windows and the
/// gradient that comes to it say of it: |dy|^2 mean(e^2) fan_in.
double over_prediction(int64_t padding) {
  at::manual_seed(51);
  const at::Tensor weight = (at::randn({8, 8, 3, 3}) * 0.1).requires_grad_();
  const at::Tensor x = at::randn({4, 8, 16, 16}).requires_grad_();
  const auto convolve = [&] { return at::conv2d(x * 1.0, weight, {}, 1, padding); };
  const at::Tensor dy = at::randn(convolve().sizes());
  const at::Tensor exact = gradient(convolve, weight, dy, nullptr);
  Compressor compressor({.bits = 2, .scheme = Scheme::gact, .level = 1});
  double error = 0.0;
  constexpr int kDraws = 40;
  for (int draw = 0; draw < kDraws; ++draw) {
    const at::Tensor rest = gradient(convolve, weight, dy, &compressor) - exact;
    error += rest.square().sum().item<double>() / kDraws;
  }
  const double energy = x.square().mean().item<double>();
  constexpr int kFanIn = 8 * 3 * 3;
  const double squared = compressor.sites().at(0).error * energy;
  return error / (dy.square().sum().item<double>() * squared * kFanIn);
}

TEST(SchemeStatistics, ErrorOfAConvolutionsGradientIsThatOfItsWindows) {
  EXPECT_NEAR(over_prediction(0), 1.0, 0.1);
  // Windows over the border are of zeros in part, which have no error.
  const double with_border = over_prediction(1);
  EXPECT_GT(with_border, 0.85);
  EXPECT_LT(with_border, 1.0);
}

// A norm's gradient is quadratic in its normalised input x': of dx = (g - mean(g) - x' mean(g x'))
// / deviation errors of variance v leave -g v / (n deviation) in the mean.
TEST(SchemeStatistics, BiasOfANormsGradientIsTheVarianceOverItsSize) {
  constexpr int64_t kRows = 4096, kSize = 64;
  constexpr int kDraws = 24;
  at::manual_seed(52);
  const at::Tensor x = (at::randn({kRows, kSize}) * 2.0).requires_grad_();
  const at::Tensor dy = at::randn({kRows, kSize});
  const auto norm = [&] { return at::layer_norm(x * 1.0, {kSize}); };
  const at::Tensor exact = gradient(norm, x, dy, nullptr);
  Compressor compressor({.bits = 2, .scheme = Scheme::gact, .level = 1});
  at::Tensor bias = at::zeros_like(exact);
  for (int draw = 0; draw < kDraws; ++draw) {
    bias += (gradient(norm, x, dy, &compressor) - exact) / kDraws;
  }
  // Of the codec alone, by its own decoding.
  at::Tensor variance = at::zeros({kRows * kSize});
  const auto codec = codecs::grouped(2);
  const at::Tensor run = x.detach().flatten();
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const auto encoded = codec->encode(run, {at::full({1}, int64_t{53}), draw});
    variance += (encoded->decoded() - run).square() / kDraws;
  }
  const at::Tensor deviation = x.detach().var(1, /*unbiased=*/false, /*keepdim=*/true).sqrt();
  const at::Tensor expected =
      -dy * (variance.view_as(x) / deviation.square()) / (static_cast<double>(kSize) * deviation);
  const double slope = ((bias * expected).sum() / expected.square().sum()).item<double>();
  EXPECT_NEAR(slope, 1.0, 0.1);
}

// Equal steps: with the square of their width. A step over all of a group's range is as wide, but
// cannot be as wrong at the ends, where the data are few.
TEST(SchemeStatistics, ErrorsOfGroupsFallWithTheSquareOfTheSteps) {
  at::manual_seed(54);
  const at::Tensor x = at::randn({1 << 18});
  std::vector<double> scaled;
  for (int bits = 1; bits <= 8; ++bits) {
    const auto encoded = codecs::grouped(bits)->encode(x, {at::full({1}, int64_t{55}), 0});
    const double error = (encoded->decoded() - x).square().mean().item<double>();
    scaled.push_back(error * std::pow((1 << bits) - 1, 2));
  }
  for (size_t i = 1; i < scaled.size(); ++i) EXPECT_NEAR(scaled[i] / scaled[7], 1.0, 0.05) << i + 1;
  EXPECT_NEAR(scaled[0] / scaled[7], 1.3, 0.05);
}

/// Errors of two tensors of the same values in several steps: a product's factor comes back as the
/// other one's gradient.
std::vector<at::Tensor> errors_by_step(int steps) {
  at::manual_seed(56);
  const at::Tensor x = at::randn({1 << 16}).requires_grad_();
  const at::Tensor one = at::randn_like(x).requires_grad_(),
                   two = at::randn_like(x).requires_grad_();
  Compressor compressor({.bits = 2, .scheme = Scheme::gact, .level = 1});
  std::vector<at::Tensor> errors;
  for (int step = 0; step < steps; ++step) {
    at::Tensor y;
    {
      const CompressionScope scope(compressor);
      const at::Tensor first = x * 1.0, second = x * 1.0;
      y = (first * one).sum();
      y = y + (second * two).sum();
    }
    for (const at::Tensor& decoded : grad({y}, {one, two})) errors.push_back(decoded - x.detach());
  }
  return errors;
}

// GACT's tensor t draws in step k what its tensor t + 1 drew in step k - 1.
TEST(SchemeStatistics, ErrorsOfTensorsAndStepsAreNotCorrelated) {
  const std::vector<at::Tensor> errors = errors_by_step(4);
  const double bound = 5.0 / std::sqrt(static_cast<double>(errors[0].numel()));
  for (size_t i = 0; i < errors.size(); ++i) {
    ASSERT_GT(errors[i].square().mean().item<double>(), 0.1);
    for (size_t j = 0; j < i; ++j) {
      const double correlation = (errors[i] * errors[j]).sum().item<double>() /
                                 (errors[i].norm() * errors[j].norm()).item<double>();
      EXPECT_LT(std::abs(correlation), bound) << i << " and " << j;
    }
  }
  const std::vector<at::Tensor> again = errors_by_step(4);
  for (size_t i = 0; i < errors.size(); ++i) EXPECT_TRUE(at::equal(errors[i], again[i])) << i;
}

}  // namespace fewbit::scheme_statistics_test
