// What an error of the loss's probabilities does: it reaches the gradients of all layers.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/compression_model.hpp"

namespace fewbit::loss_sensitivity_test {

constexpr int64_t kRows = 256, kWidth = 64, kClasses = 16;

/// Random layers with ReLU between them, which is exact, random labels.
struct Classifier {
  std::vector<at::Tensor> weights;
  at::Tensor x, labels;

  explicit Classifier(int layers) {
    at::manual_seed(61);
    const double scale = std::sqrt(2.0 / kWidth);
    for (int layer = 1; layer <= layers; ++layer) {
      const int64_t outputs = layer < layers ? kWidth : kClasses;
      weights.push_back((at::randn({outputs, kWidth}) * scale).requires_grad_());
    }
    x = at::randn({kRows, kWidth}).requires_grad_();
    labels = at::randint(kClasses, {kRows}, at::kLong);
  }

  /// Of all weights, flat.
  at::Tensor gradient(Compressor* compressor) const {
    at::Tensor loss;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      at::Tensor y = at::linear(x * 1.0, weights[0]);
      for (size_t i = 1; i < weights.size(); ++i) y = at::linear(at::relu(y), weights[i]);
      loss = at::cross_entropy_loss(y, labels);
    }
    return test::flat(torch::autograd::grad({loss}, weights));
  }
};

/// The place of the loss among those that the compressor met.
size_t loss_of(const Compressor& compressor) {
  const std::vector<Compressor::Site> sites = test::coded_sites(compressor);
  const auto found = std::ranges::find(sites, "fewbit::log_softmax", &Compressor::Site::operation);
  return static_cast<size_t>(found - sites.begin());
}

// As passes find it in which the probabilities alone are in few bits; roughly, for layers need not
// pass an error on as they do the gradient.
TEST(LossSensitivity, IsThatOfTheGradientsOfAllLayers) {
  const Classifier model(4);
  const at::Tensor exact = model.gradient(nullptr);
  Compressor compressor({.bits = 2, .scheme = Scheme::gact});
  model.gradient(&compressor);
  const double found = test::sensitivities(compressor).at(loss_of(compressor));
  Compressor probe({.bits = 2, .scheme = Scheme::gact, .level = 1});
  probe.leave_alone("aten::mm");
  double error = 0.0;
  constexpr int kDraws = 40;
  for (int draw = 0; draw < kDraws; ++draw) {
    error += (model.gradient(&probe) - exact).square().sum().item<double>() / kDraws;
  }
  const Compressor::Site site = test::coded_sites(probe).at(loss_of(probe));
  EXPECT_NEAR(error / (found * static_cast<double>(site.elements) * site.error), 1.0, 0.25);
}

// A loss that is written out: the gradients of all layers depend on few elements.
TEST(LossSensitivity, GivesWhatIsSavedBehindTheLastLayerMostBits) {
  at::manual_seed(62);
  const at::Tensor x = at::randn({64, 512}).requires_grad_(), target = at::randn({64, 32});
  std::vector<at::Tensor> weights;
  for (const auto& [inputs, outputs] :
       std::initializer_list<std::pair<int64_t, int64_t>>{{512, 384}, {384, 64}, {64, 32}}) {
    weights.push_back((0.05 * at::randn({inputs, outputs})).requires_grad_());
  }
  Compressor compressor({.bits = 2});
  for (int step = 0; step < 6; ++step) {
    const CompressionScope scope(compressor);
    at::Tensor y = x * 1.0;
    for (const at::Tensor& weight : weights) y = at::mm(y + 0.0, weight);
    (y - target).square().mean();
  }
  double of_layers = 0.0, of_loss = 0.0;
  for (const Compressor::Site& site : compressor.sites()) {
    double& most = site.elements == 64 * 32 ? of_loss : of_layers;
    most = std::max(most, site.stored.bits);
  }
  EXPECT_GE(of_loss, of_layers + 2.0) << compressor.report();
}

// Of all that a random classifier keeps, an element of it matters most; without the greatest of
// each row, which are exact, the average bits are enough.
TEST(LossSensitivity, IsTheGreatestOfAClassifier) {
  const Classifier model(16);
  Compressor compressor({.bits = 4, .scheme = Scheme::gact});
  for (int step = 0; step < 3; ++step) model.gradient(&compressor);
  const std::vector<double> found = test::sensitivities(compressor);
  const size_t loss = loss_of(compressor);
  for (size_t place = 0; place < found.size(); ++place) {
    if (place != loss) {
      EXPECT_GT(found.at(loss), found[place]) << compressor.report();
    }
  }
  const Compressor::Site site = test::coded_sites(compressor).at(loss);
  EXPECT_GE(8 * site.bytes_after, 4 * site.elements) << compressor.report();
}

}  // namespace fewbit::loss_sensitivity_test
