// Unchanged models whose saved tensors are coded: what is kept, what backward makes of it, and what
// is left alone.
#include <thread>

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/transformercoder.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::compression_test {

using namespace test;
using torch::autograd::grad;

TEST(Compression, GradientsComeNearerWithEveryBit) {
  auto model = mlp();
  const at::Tensor exact = gradients(model, input(), nullptr);
  double last = 1.0;
  for (const int bits : {1, 2, 3, 4, 6, 8}) {
    Compressor compressor({.bits = static_cast<double>(bits), .activation_bits = 8});
    const double error = distance(gradients(model, input(), &compressor), exact);
    EXPECT_LT(error, 0.8 * last) << bits;
    last = error;
  }
  EXPECT_LT(last, 0.01);
}

// Over many draws their mean is the exact gradient: what is left is that of so many draws.
TEST(Compression, GradientsHaveNoBias) {
  auto model = mlp();
  Compressor compressor({.bits = 1, .activation_bits = 8});
  compressor.leave_alone("aten::native_layer_norm");
  const at::Tensor x = input();
  const at::Tensor exact = gradients(model, x, nullptr);
  constexpr int kDraws = 400;
  at::Tensor sum = at::zeros_like(exact);
  double square = 0.0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const at::Tensor one = gradients(model, x, &compressor);
    square += std::pow(distance(one, exact), 2);
    sum += one;
  }
  const double single = std::sqrt(square / kDraws);
  EXPECT_LT(distance(sum / kDraws, exact), 2.0 * single / std::sqrt(kDraws) + 0.003) << single;
}

TEST(Compression, ValuesAreThoseOfTheScopeForActivations) {
  auto model = mlp();
  Compressor compressor({.bits = 1, .activation_bits = 2});
  at::Tensor coded, plain;
  {
    const CompressionScope scope(compressor);
    coded = model->forward(input());
  }
  {
    const ActivationScope scope({.bits = 2});
    plain = model->forward(input());
  }
  EXPECT_TRUE(at::equal(coded, plain));
}

TEST(Compression, TheMeterSeesTheBytesThatTheReportCounts) {
  auto model = mlp();
  Compressor compressor({.bits = 2});
  SavedBytes meter;
  at::Tensor y;
  {
    const auto watch = meter.watch();
    const CompressionScope scope(compressor);
    y = model->forward(input().requires_grad_());
  }
  constexpr int64_t kMaps = 2 * 8 * 4;  // of the 8 classes that GELU's codes tell
  int64_t coded = 0, exact = 0;
  for (const Compressor::Site& site : coded_sites(compressor)) {
    coded += site.bytes_after;
    EXPECT_EQ(site.count, 1);
    EXPECT_EQ(site.elements, 100 * kWidth);
    // 25 groups of 256: codes, two constants of two bytes each, and the seed that all share.
    EXPECT_EQ(site.bytes_after, 25 * (256 * 2 / 8 + 4) + 8 + kMaps);
  }
  for (const SavedTensor& saved : meter.entries()) {
    // What is left alone: the norm's means and deviations, the input without a node.
    if (!saved.parameter && saved.dtype == at::kFloat) exact += saved.bytes;
  }
  ASSERT_EQ(coded_sites(compressor).size(), 2U);  // the norm's input and the second layer's
  const int64_t activation = 16 * ((100 * kWidth * 3 / 8 + 15) / 16);
  EXPECT_EQ(exact, 2 * 100 * 4 + 2 * kMaps);
  EXPECT_EQ(meter.unique_bytes(), coded - 8 + exact - 2 * kMaps + activation);
  EXPECT_EQ(compressor.sites()[0].operation, "fewbit::activation");
  EXPECT_EQ(compressor.sites()[0].bytes_after, activation);
}

TEST(Compression, WhatSeveralOperationsKeepIsCodedOnce) {
  Compressor compressor({.bits = 2});
  const at::Tensor x = input().requires_grad_();
  const at::Tensor weight = at::randn({kWidth, kWidth}).requires_grad_();
  SavedBytes meter;
  at::Tensor y;
  {
    const auto watch = meter.watch();
    const CompressionScope scope(compressor);
    const at::Tensor h = x * 2.0;
    y = at::mm(h, weight) + at::mm(h, weight) +
        at::mm(h.view({50, 2, kWidth}).view({100, -1}), weight);
  }
  EXPECT_EQ(compressor.sites().size(), 1U);
  EXPECT_EQ(meter.unique_bytes(), 25 * 68 + 8);
}

TEST(Compression, CodesServeWhoeverKeepsTheSame) {
  Compressor compressor({.bits = 2});
  const at::Tensor x = input().requires_grad_();
  const at::Tensor weight = at::randn({kWidth, kWidth}).requires_grad_();
  at::Tensor y;
  {
    const CompressionScope scope(compressor);
    y = at::mm(at::softmax(x * 2.0, 1), weight);
  }
  ASSERT_EQ(compressor.sites().size(), 1U);
  EXPECT_EQ(compressor.sites()[0].operation, "aten::_softmax");
  EXPECT_THAT(compressor.sites()[0].stored, IsCoded("squares", 4));  // two more than for a product
}

// Attention by its formula, with a bias of positions; the last row may attend to nothing.
TEST(Compression, ProbabilitiesOfAMaskedRowStayZeros) {
  at::manual_seed(61);
  const at::Tensor scores = at::randn({4, 32, 32}).requires_grad_();
  const at::Tensor values = at::randn({4, 32, 16}).requires_grad_();
  at::Tensor mask = at::zeros({32, 32});
  mask[31].fill_(-INFINITY);
  const auto loss = [&] {
    const at::Tensor p = at::_safe_softmax(scores * 2.0 + mask, -1);
    return at::bmm(p, values * 1.0).square().sum();
  };
  const at::Tensor exact = grad({loss()}, {scores})[0];
  Compressor compressor({.bits = 8});
  at::Tensor coded;
  {
    const CompressionScope scope(compressor);
    coded = loss();
  }
  ASSERT_EQ(compressor.sites().size(), 3U) << compressor.report();
  EXPECT_EQ(compressor.sites()[1].operation, "aten::_safe_softmax");
  const at::Tensor gradient = grad({coded}, {scores})[0];
  EXPECT_LT(distance(gradient, exact), 0.02);
  EXPECT_LT(gradient.select(1, 31).abs().max().item<float>(), 1e-6F);
}

TEST(Compression, ChangesInPlaceAfterSavingHarmNothing) {
  Compressor compressor({.bits = 8});
  const at::Tensor x = input().requires_grad_();
  const at::Tensor weight = at::randn({kWidth, kWidth}).requires_grad_();
  at::Tensor y, h, before;
  {
    const CompressionScope scope(compressor);
    h = x * 1.0;
    before = h.detach().clone();
    y = at::mm(h, weight);
    h.mul_(100.0);
    y = y + at::mm(h, weight);  // saved anew: other contents
  }
  const at::Tensor dw = grad({y.sum()}, {weight})[0];
  const at::Tensor ones = at::ones({100, kWidth});
  EXPECT_LT(distance(dw, at::mm(before.t(), ones) * 101.0), 0.02);
  EXPECT_EQ(compressor.sites().size(), 2U);
}

// Of which versions know nothing.
TEST(Compression, ChangesBehindAutogradsBackAreSeen) {
  const at::Tensor x = input().requires_grad_();
  const at::Tensor weight = at::randn({100, kWidth}).requires_grad_();
  Compressor compressor({.bits = 8});
  at::Tensor y;
  {
    const CompressionScope scope(compressor);
    const at::Tensor h = x * 1.0;
    y = h * weight;
    h.data().mul_(-3.0);
    y = y + h * weight;
  }
  const at::Tensor dw = grad({y}, {weight}, {at::ones_like(y)})[0];
  EXPECT_LT(distance(dw, input() * -2.0), 0.05);
}

TEST(Compression, AGraphMayBeWalkedTwice) {
  auto model = mlp();
  Compressor compressor({.bits = 2});
  at::Tensor loss;
  {
    const CompressionScope scope(compressor);
    loss = model->forward(input()).pow(2).mean();
  }
  const auto first = flat(grad({loss}, model->parameters(), {}, true));
  EXPECT_TRUE(at::equal(flat(grad({loss}, model->parameters())), first));
  EXPECT_THROW(grad({loss}, model->parameters()), c10::Error);  // freed, as without
}

TEST(Compression, TheSameRandomStateGivesTheSameStep) {
  auto model = mlp();
  Compressor compressor({.bits = 1}), other({.bits = 1});
  at::manual_seed(5);
  const at::Tensor first = gradients(model, at::ones({100, kWidth}) + input(), &compressor);
  EXPECT_FALSE(at::equal(gradients(model, at::ones({100, kWidth}) + input(), nullptr), first));
  const at::Tensor x = at::ones({100, kWidth}) + input();
  at::manual_seed(5);
  Compressor one({.bits = 1});
  const at::Tensor second = gradients(model, x, &one);
  const at::Tensor third = gradients(model, x, &one);
  EXPECT_TRUE(at::equal(gradients(model, x, &other), second));
  EXPECT_FALSE(at::equal(third, second));
  at::manual_seed(6);
  Compressor another({.bits = 1});
  EXPECT_FALSE(at::equal(gradients(model, x, &another), second));
}

TEST(Compression, StreamsOfRandomNumbersAreIndependent) {
  auto model = mlp();
  at::manual_seed(5);
  const at::Tensor x = at::ones({100, kWidth}) + input();
  const at::Tensor exact = gradients(model, x, nullptr);
  std::vector<at::Tensor> errors;
  for (const int64_t stream : {0, 1, 2, -1, 1}) {
    Compressor compressor({.bits = 1});
    compressor.random_stream(stream);
    errors.push_back(gradients(model, x, &compressor) - exact);
  }
  EXPECT_TRUE(at::equal(errors[1], errors[4]));
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double cosine = (errors[i] * errors[j]).sum().item<double>() /
                            (errors[i].norm() * errors[j].norm()).item<double>();
      EXPECT_LT(std::abs(cosine), 0.3) << i << ", " << j;
    }
  }
}

TEST(Compression, AConvolutionalNetworkKeepsItsGradients) {
  at::manual_seed(3);
  torch::nn::Sequential model(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3).padding(1)),
                              torch::nn::BatchNorm2d(16), torch::nn::ReLU(),
                              torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 3).padding(1)),
                              torch::nn::BatchNorm2d(16), torch::nn::ReLU(),
                              torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 4, 3)));
  const at::Tensor x = at::randn({8, 3, 16, 16});
  const at::Tensor exact = gradients(model, x, nullptr);
  Compressor compressor({.bits = 4});
  EXPECT_LT(distance(gradients(model, x, &compressor), exact), 0.08);
  // Two norms' inputs, two convolutions'.
  EXPECT_EQ(coded_sites(compressor).size(), 4U) << compressor.report();
}

TEST(Compression, ATransformerKeepsAnEighthAndItsGradients) {
  at::manual_seed(4);
  torch::nn::TransformerEncoder model(torch::nn::TransformerEncoderOptions(
      torch::nn::TransformerEncoderLayerOptions(64, 4).dim_feedforward(256).dropout(0.0).activation(
          torch::kGELU),
      2));
  const at::Tensor x = at::randn({32, 8, 64});
  const auto loss_of = [&] { return model->forward(x).pow(3).mean(); };
  SavedBytes meter;
  at::Tensor exact_loss;
  {
    const auto watch = meter.watch();
    exact_loss = loss_of();
  }
  const int64_t before = meter.unique_bytes();
  const at::Tensor exact = flat(grad({exact_loss}, model->parameters()));
  meter.reset();
  Compressor compressor({.bits = 2, .activation_bits = 4});
  at::Tensor loss;
  {
    const auto watch = meter.watch();
    const CompressionScope scope(compressor);
    loss = loss_of();
  }
  EXPECT_GT(before, 6 * meter.unique_bytes()) << compressor.report();
  EXPECT_LT(distance(flat(grad({loss}, model->parameters())), exact), 0.3);
  EXPECT_NE(compressor.report().find("% above the best allocation of bits"), std::string::npos);
}

TEST(Compression, RunsUnderAutocast) {
  auto model = mlp();
  const at::Tensor exact = gradients(model, input(), nullptr);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  Compressor compressor({.bits = 6, .activation_bits = 8});
  const at::Tensor cast = gradients(model, input(), &compressor);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  EXPECT_LT(distance(cast, exact), 0.1);
  EXPECT_EQ(coded_sites(compressor).size(), 2U) << compressor.report();
  for (const Compressor::Site& site : compressor.sites()) EXPECT_EQ(site.elements, 100 * kWidth);
}

// Eight bits hold all that bfloat16 tells of numbers around 30; one bit does not.
TEST(Compression, BitsThatLoseNothingSayNothingOfFewer) {
  at::manual_seed(9);
  const at::Tensor x = (at::randn({100, kWidth}) + 30.0).to(at::kBFloat16).requires_grad_();
  const at::Tensor weight = at::randn({kWidth, kWidth}).to(at::kBFloat16).requires_grad_();
  Compressor compressor({.bits = 8});
  for (int step = 0; step < 3; ++step) {
    const CompressionScope scope(compressor);
    at::mm(x * 1.0, weight);
  }
  EXPECT_NE(compressor.sites().at(0).stored.bits, 1.0) << compressor.report();
}

TEST(Compression, SeveralModelsScopesAndThreads) {
  const auto run = [] {
    auto model = mlp();
    Compressor compressor({.bits = 2});
    for (int step = 0; step < 5; ++step) gradients(model, at::randn({100, kWidth}), &compressor);
    return coded_sites(compressor);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto sites = run();
      EXPECT_EQ(sites.size(), 2U);
      for (const auto& site : sites) EXPECT_EQ(site.count, 5);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Compression, ThrowsOutOfAScopeAndGoesOn) {
  auto model = mlp();
  Compressor compressor({.bits = 2});
  const auto fail = [&] {
    const CompressionScope scope(compressor);
    model->forward(input());
    throw std::runtime_error("out of data");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  const at::Tensor exact = gradients(model, input(), nullptr);
  EXPECT_TRUE(at::equal(gradients(model, input(), nullptr), exact));
}

}  // namespace fewbit::compression_test
