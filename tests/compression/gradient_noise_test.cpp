// The noise of a weight's gradient is what the codec's error predicts, and nothing but noise.
#include <cmath>

#include <gtest/gtest.h>

#include "ops/rotated.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::gradient_noise_test {

using namespace test;

constexpr int64_t kRows = 64, kInputs = 48, kOutputs = 32;  // rows lie in two groups
constexpr int64_t kGroup = 256, kDraws = 200;

/// dW = sum_t dy_t x_t of a linear layer whose rows differ in size, small x with great dy. Not by
/// much: of a group whose energy is in a few rows the errors are not as even as that.
struct Case {
  Case() {
    at::manual_seed(3);
    const at::Tensor size = at::exp(0.3 * at::randn({kRows, 1}));
    x = (at::randn({kRows, kInputs}) + 0.1) * size;
    dy = at::randn({kRows, kOutputs}) / size.square();
    weight = at::randn({kOutputs, kInputs}).requires_grad_();
  }

  at::Tensor gradient(Compressor* compressor) const {
    at::Tensor y;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      y = at::linear(at::mul(at::Tensor(x).requires_grad_(), 1.0), weight);
    }
    return torch::autograd::grad({y}, {weight}, {dy})[0].to(at::kDouble);
  }

  /// Of every element, in order: |dy_t|^2 of its row.
  at::Tensor influence() const {
    return dy.to(at::kDouble).square().sum(1, true).expand({kRows, kInputs}).reshape({-1, kGroup});
  }

  /// |x - m|^2 / 256 of every group.
  at::Tensor energy() const {
    const at::Tensor groups = x.to(at::kDouble).view({-1, kGroup});
    return (groups - groups.mean(1, true)).square().mean(1, true);
  }

  at::Tensor x, dy, weight;
};

struct Measured {
  double noise;
  double deviation;  // of it
  double bias;       // |mean error|^2
};

Measured measure(const Case& layer, Compressor& compressor) {
  const at::Tensor exact = layer.gradient(nullptr);
  at::Tensor sum = at::zeros_like(exact), squares = at::empty({kDraws}, at::kDouble);
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const at::Tensor error = layer.gradient(&compressor) - exact;
    squares[draw] = error.square().sum();
    sum += error;
  }
  return {squares.mean().item<double>(), squares.std().item<double>() / std::sqrt(kDraws),
          (sum / kDraws).square().sum().item<double>()};
}

TEST(GradientNoise, OfALinearLayerIsPredictedByTheCodecsError) {
  const Case layer;
  for (const int states : {0, 4, 8}) {
    for (const int bits : {1, 2, 4}) {
      SCOPED_TRACE(testing::Message() << states << " states, " << bits << " bits");
      Compressor compressor({.bits = static_cast<double>(bits), .trellis = states});
      const Measured measured = measure(layer, compressor);
      ASSERT_EQ(compressor.sites().size(), 1U);
      ASSERT_THAT(compressor.sites()[0].stored, test::IsCoded("rotated", bits));
      // Rotation spreads a group's error evenly over its elements, whatever rows they are of.
      const double predicted = ops::rotated_error({bits, kGroup, states}) *
                               (layer.influence() * layer.energy()).sum().item<double>();
      // Short groups err up to 2 % less than the closed form.
      EXPECT_NEAR(measured.noise, predicted, 4.0 * measured.deviation + 0.02 * predicted);
      // So much is left of noise without bias; its deviation is small, of many elements.
      EXPECT_NEAR(measured.bias * kDraws / measured.noise, 1.0, 0.35);
    }
  }
}

// The rows' own energies would predict something else.
TEST(GradientNoise, IsThatOfGroupsNotOfRows) {
  const Case layer;
  const at::Tensor own = layer.x.to(at::kDouble).square().reshape({-1, kGroup});
  const double by_rows = (layer.influence() * own).sum().item<double>();
  const double by_groups = (layer.influence() * layer.energy()).sum().item<double>();
  EXPECT_GT(by_groups, 1.2 * by_rows);
}

}  // namespace fewbit::gradient_noise_test
