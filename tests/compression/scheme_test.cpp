// Schemes of the papers: what their levels keep, and what their bits follow.
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "fewbit/saved_bytes.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::scheme_test {

using test::distance;
using test::gradients;
using test::input;
using test::kWidth;
using test::mlp;
using test::sensitivities;

const std::string kPath = testing::TempDir() + "fewbit_scheme_places.txt";

std::vector<std::string> codecs_of(const Compressor& compressor) {
  std::vector<std::string> codecs;
  for (const Compressor::Site& site : test::coded_sites(compressor))
    codecs.push_back(site.stored.text());
  return codecs;
}

std::vector<std::string> codecs_at(int level) {
  auto model = mlp();
  Compressor compressor({.scheme = Scheme::actnn, .level = level});
  gradients(model, input() * 1.0, &compressor);
  return codecs_of(compressor);
}

TEST(Actnn, LevelsKeepWhatTheyAreDefinedBy) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(codecs_at(0), Names());
  EXPECT_EQ(codecs_at(1), Names({"group, 4 bits"}));  // the second layer's input
  EXPECT_EQ(codecs_at(2), Names({"group, 4 bits", "group, 4 bits"}));
  EXPECT_EQ(codecs_at(3), Names(2, "group by sample, 2 bits"));
}

TEST(Actnn, LevelNoneIsAsWithoutAScope) {
  auto model = mlp();
  const at::Tensor exact = gradients(model, input(), nullptr);
  Compressor compressor({.scheme = Scheme::actnn, .level = 0});
  EXPECT_TRUE(at::equal(gradients(model, input(), &compressor), exact));
}

TEST(Scheme, OtherLevelsAreRefused) {
  EXPECT_EQ(test::refusal([] { Compressor({.scheme = Scheme::actnn, .level = 6}); }),
            "fewbit::Compressor: level is 6, accepted in the scheme actnn: 0 to 5");
  EXPECT_EQ(test::refusal([] { Compressor({.scheme = Scheme::gact, .level = 3}); }),
            "fewbit::Compressor: level is 3, accepted in the scheme gact: 0 to 2");
  EXPECT_EQ(test::refusal([] { Compressor({.scheme = Scheme::group, .level = 1}); }),
            "fewbit::Compressor: level is 1, accepted in the schemes actnn and gact alone");
  EXPECT_EQ(test::refusal([] { Compressor({.bits = 2.5, .scheme = Scheme::gact, .level = 1}); }),
            "fewbit::Compressor: bits is 2.5, accepted in level 1 of the scheme gact: whole ones, "
            "1 to 8");
}

// The squared error of a layer's gradient is what the place's sensitivity and error say.
TEST(Actnn, SensitivitiesSayWhatErrorsDoToGradients) {
  at::manual_seed(3);
  const at::Tensor weight = at::randn({32, kWidth}).requires_grad_();
  const at::Tensor x = at::randn({200, kWidth}).requires_grad_();
  const at::Tensor dy = at::randn({200, 32}) * at::randn({200, 1}).exp();
  const auto gradient = [&](Compressor* compressor) {
    at::Tensor y;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      y = at::linear(x * 1.0, weight);
    }
    return torch::autograd::grad({y}, {weight}, {dy})[0];
  };
  const at::Tensor exact = gradient(nullptr);
  Compressor compressor({.bits = 3, .scheme = Scheme::actnn});
  double error = 0.0;
  constexpr int kDraws = 60;
  for (int draw = 0; draw < kDraws; ++draw) {
    error += (gradient(&compressor) - exact).square().sum().item<double>() / kDraws;
  }
  const Compressor::Site site = compressor.sites().at(0);
  const double expected =
      sensitivities(compressor).at(0) * static_cast<double>(site.elements) * site.error;
  EXPECT_NEAR(error / expected, 1.0, 0.1);
}

// Of two layers the one whose output has the larger gradient has more bits.
TEST(Actnn, BitsFollowTheGradients) {
  at::manual_seed(3);
  const at::Tensor x = at::randn({64, kWidth}).requires_grad_();
  const at::Tensor first = at::randn({kWidth, kWidth}).requires_grad_();
  const at::Tensor second = at::randn({kWidth, kWidth}).requires_grad_();
  Compressor compressor({.bits = 3, .scheme = Scheme::actnn});
  for (int step = 0; step < 3; ++step) {
    at::Tensor loss;
    {
      const CompressionScope scope(compressor);
      loss = at::linear(x * 1.0, first).sum();
      loss = loss + 16.0 * at::linear(x * 2.0, second).sum();
    }
    torch::autograd::grad({loss}, {first, second});
  }
  EXPECT_EQ(codecs_of(compressor),
            std::vector<std::string>({"group by sample, 1 bit", "group by sample, 5 bits"}));
}

TEST(Actnn, GoesOnFromAFileBitForBit) {
  auto model = mlp();
  Compressor whole({.bits = 2.5, .scheme = Scheme::actnn});
  const auto step = [&](Compressor& compressor) {
    return gradients(model, at::randn({100, kWidth}), &compressor);
  };
  at::manual_seed(9);
  for (int i = 0; i < 3; ++i) step(whole);
  whole.save(kPath);
  Compressor resumed({.bits = 2.5, .scheme = Scheme::actnn});
  resumed.load(kPath);
  at::manual_seed(10);
  const at::Tensor expected = step(whole);
  at::manual_seed(10);
  EXPECT_TRUE(at::equal(step(resumed), expected));
}

TEST(Gact, LevelsKeepWhatTheyAreDefinedBy) {
  using Names = std::vector<std::string>;
  const auto codecs_of_level = [](std::optional<int> level) {
    auto model = mlp();
    Compressor compressor({.bits = 3, .scheme = Scheme::gact, .level = level});
    for (int step = 0; step < 3; ++step) gradients(model, input() * 1.0, &compressor);
    return codecs_of(compressor);
  };
  EXPECT_EQ(codecs_of_level(0), Names());
  EXPECT_EQ(codecs_of_level(1), Names(2, "group, 3 bits"));
  EXPECT_EQ(codecs_of_level(2), codecs_of_level({}));
  EXPECT_NE(codecs_of_level(2), codecs_of_level(1));
}

/// Layers whose gradients differ by orders of magnitude, with ReLU between them, which is exact.
struct Chain {
  std::vector<at::Tensor> weights;
  at::Tensor toward;
  Chain() {
    at::manual_seed(5);
    toward = at::randn({64, kWidth});
    for (const double size : {0.3, 2.0, 0.05}) {
      weights.push_back((at::randn({kWidth, kWidth}) * size).requires_grad_());
    }
  }
  /// Of all weights, flat. loss_scale: as mixed precision multiplies the loss.
  at::Tensor gradient(const at::Tensor& x, Compressor* compressor, double loss_scale = 1.0) {
    at::Tensor y = x * 1.0;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      for (const at::Tensor& weight : weights) y = at::relu(at::linear(y, weight));
      y = (y * toward).sum() * loss_scale;
    }
    return test::flat(torch::autograd::grad({y}, weights)) / loss_scale;
  }
};

// GACT finds them by a pair of passes for every place, with that place alone in one bit.
TEST(Gact, SensitivitiesAreThoseThatProbesOfSinglePlacesFind) {
  Chain chain;
  const at::Tensor x = at::randn({64, kWidth}).requires_grad_();
  const at::Tensor exact = chain.gradient(x, nullptr);
  Compressor compressor({.bits = 2, .scheme = Scheme::gact});
  chain.gradient(x, &compressor);
  const std::vector<double> found = sensitivities(compressor);
  const std::vector<Compressor::Site> sites = test::coded_sites(compressor);
  ASSERT_EQ(found.size(), chain.weights.size());
  for (size_t place = 0; place < found.size(); ++place) {
    torch::OrderedDict<std::string, at::Tensor> names;
    for (size_t i = 0; i < chain.weights.size(); ++i) {
      names.insert(i == place ? "probed" : "other" + std::to_string(i), chain.weights[i]);
    }
    Compressor probe({.bits = 2, .scheme = Scheme::gact, .level = 1});
    probe.name(names).leave_alone("other*");
    double error = 0.0;
    constexpr int kDraws = 40;
    for (int draw = 0; draw < kDraws; ++draw) {
      error += (chain.gradient(x, &probe) - exact).square().sum().item<double>() / kDraws;
    }
    ASSERT_EQ(test::coded_sites(probe).size(), 1U) << probe.report();
    const Compressor::Site site = test::coded_sites(probe)[0];
    const double expected = found[place] * static_cast<double>(site.elements) * site.error;
    EXPECT_NEAR(error / expected, 1.0, 0.15) << place;
  }
}

TEST(Gact, ScalesOfTheLossDoNotMoveBits) {
  Chain chain;
  const at::Tensor x = at::randn({64, kWidth}).requires_grad_();
  const auto codecs_with = [&](double loss_scale) {
    Compressor compressor({.bits = 3, .scheme = Scheme::gact});
    for (int step = 0; step < 3; ++step) chain.gradient(x, &compressor, loss_scale);
    return codecs_of(compressor);
  };
  EXPECT_EQ(codecs_with(1.0), codecs_with(0x1p24));
  EXPECT_EQ(codecs_with(1.0), codecs_with(0x1p-24));
}

// In mixed precision a loss that is scaled too much is one whose gradients are infinite.
TEST(Gact, GradientsThatOverflowSayNothing) {
  Chain chain;
  const at::Tensor x = at::randn({64, kWidth}).requires_grad_();
  Compressor compressor({.bits = 3, .scheme = Scheme::gact});
  for (int step = 0; step < 4; ++step) chain.gradient(x, &compressor);
  const std::vector<std::string> before = codecs_of(compressor);
  for (int step = 0; step < 6; ++step) {
    chain.gradient(x, &compressor, std::numeric_limits<float>::infinity());
  }
  EXPECT_EQ(codecs_of(compressor), before);
}

}  // namespace fewbit::scheme_test
