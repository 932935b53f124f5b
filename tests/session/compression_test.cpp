// Unchanged models whose saved tensors are coded: what is kept, what backward makes of it, and what
// is left alone.
#include <thread>

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/transformercoder.h>

#include "fewbit/fewbit.hpp"
#include "tests/session/compression_model.hpp"

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
  int64_t coded = 0, exact = 0;
  for (const Compressor::Site& site : compressor.sites()) {
    coded += site.bytes_after;
    EXPECT_EQ(site.count, 1);
    EXPECT_EQ(site.elements, 100 * kWidth);
    // 25 groups of 256: codes, two constants of two bytes each, and the seed that all share.
    EXPECT_EQ(site.bytes_after, 25 * (256 * 2 / 8 + 4) + 8);
  }
  for (const SavedTensor& saved : meter.entries()) {
    // What is left alone: the norm's means and deviations, the input without a node.
    if (!saved.parameter && saved.dtype == at::kFloat) exact += saved.bytes;
  }
  ASSERT_EQ(compressor.sites().size(), 2U);  // the norm's input and the second layer's
  const int64_t activation = 16 * ((100 * kWidth * 3 / 8 + 15) / 16);
  EXPECT_EQ(meter.unique_bytes(), coded - 8 + exact + activation);
  EXPECT_EQ(exact, 2 * 100 * 4);
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
  const CompressionScope scope(compressor);
  const at::Tensor y = at::mm(at::softmax(x * 2.0, 1), weight);
  ASSERT_EQ(compressor.sites().size(), 1U);
  EXPECT_EQ(compressor.sites()[0].operation, "aten::_softmax");
  EXPECT_EQ(compressor.sites()[0].codec, "group, 4 bits");  // two more than for a product
}

// From the second forward on: as many as asked for, more where an error weighs more.
TEST(Compression, BitsAreTheAverageOverAllThatIsCoded) {
  for (const double bits : {1.0, 1.5, 2.0, 2.3, 3.0, 6.0}) {
    at::manual_seed(3);
    torch::nn::Sequential model;
    for (int i = 0; i < 10; ++i) model->push_back(torch::nn::Linear(kWidth, kWidth));
    Compressor compressor({.bits = bits, .group = 1024});
    for (int step = 0; step < 2; ++step) {
      const CompressionScope scope(compressor);
      at::softmax(10.0 * model->forward(input()), 1);
    }
    double elements = 0.0, stored = 0.0;
    for (const Compressor::Site& site : compressor.sites()) {
      elements += static_cast<double>(site.elements);
      stored += 8.0 * static_cast<double>(site.bytes_after);
    }
    // Constants: 32 bits for 1,024 elements, and a seed; a short group is filled up when rotated.
    const double filled = 7168.0 / 6400.0;
    EXPECT_LE(stored / elements, bits * filled + (7 * 32 + 64) / 6400.0 + 1e-9) << bits;
    EXPECT_GE(stored / elements, bits - 1.0 / 10) << bits << '\n' << compressor.report();
    EXPECT_EQ(compressor.sites().back().operation, "aten::_softmax");
    if (bits >= 2.0) {
      EXPECT_GT(compressor.sites().back().bytes_after, compressor.sites()[0].bytes_after);
    }
  }
}

TEST(Compression, LeavesAloneWhatItShould) {
  Compressor compressor({.bits = 1});
  const at::Tensor weight = at::randn({kWidth, kWidth}).requires_grad_();
  const at::Tensor frozen = at::randn({kWidth, kWidth});
  const at::Tensor x = input().requires_grad_();
  const CompressionScope scope(compressor);
  // Parameters, their views and casts; data without gradient; few elements.
  const at::Tensor h = x * 2.0;
  (at::mm(h.narrow(0, 0, 8), weight) + at::mm(input().narrow(0, 0, 8), weight.t())).sum();
  at::mm(at::ones({8, kWidth}).to(at::kBFloat16), weight.to(at::kBFloat16));
  at::mm(at::ones({8, kWidth}).requires_grad_(), frozen);
  {
    const at::NoGradGuard no_grad;
    at::mm(h, weight);
  }
  EXPECT_TRUE(compressor.sites().empty()) << compressor.report();
}

TEST(Compression, RulesAreForOperations) {
  Compressor compressor({.bits = 2});
  compressor.rule("aten::mm", Bits{5}).leave_alone("aten::native_layer_norm");
  compressor.rule("aten::addmm", Bits{4});
  auto model = mlp();
  gradients(model, input(), &compressor);
  ASSERT_EQ(compressor.sites().size(), 1U) << compressor.report();
  EXPECT_EQ(compressor.sites()[0].codec, "rotated, 4 bits");
}

TEST(Compression, RulesAreForNamedParameters) {
  torch::nn::Sequential model;
  for (int i = 0; i < 3; ++i) model->push_back(torch::nn::Linear(kWidth, kWidth));
  Compressor compressor({.bits = 2});
  compressor.name(model->named_parameters());
  compressor.rule("*.weight", Bits{5}).rule("1.*", Bits{7}).leave_alone("2.we*t");
  const at::Tensor x = input().requires_grad_();
  gradients(model, x * 1.0, &compressor);
  const auto sites = compressor.sites();
  ASSERT_EQ(sites.size(), 2U) << compressor.report();
  EXPECT_EQ(sites[0].module, "0");
  EXPECT_EQ(sites[0].codec, "rotated, 5 bits");
  EXPECT_EQ(sites[1].module, "1");
  EXPECT_EQ(sites[1].codec, "rotated, 7 bits");
}

TEST(Compression, RulesMayComeLater) {
  auto model = mlp();
  Compressor compressor({.bits = 2});
  gradients(model, input(), &compressor);
  compressor.rule("aten::addmm", Bits{6});
  for (int step = 0; step < 2; ++step) {
    gradients(model, input(), &compressor);
    EXPECT_EQ(compressor.sites().at(1).codec, "rotated, 6 bits");
  }
  compressor.rule("aten::addmm", Bits{4});
  for (int step = 0; step < 2; ++step) {
    gradients(model, input(), &compressor);
    EXPECT_EQ(compressor.sites().at(1).codec, "rotated, 4 bits");
  }
}

TEST(Compression, RulesMayNameManyOperations) {
  torch::nn::Sequential model{torch::nn::Linear(kWidth, kWidth), torch::nn::Linear(kWidth, kWidth)};
  Compressor compressor({.bits = 2});
  compressor.rule("aten::*", Bits{8}).rule("*add*m", Bits{3});
  const at::Tensor x = input().requires_grad_();
  gradients(model, x * 1.0, &compressor);
  ASSERT_EQ(compressor.sites().size(), 3U);  // and the loss's square
  for (const Compressor::Site& site : compressor.sites()) {
    EXPECT_EQ(site.codec, site.operation == "aten::addmm" ? "rotated, 3 bits" : "rotated, 8 bits");
    EXPECT_EQ(site.module, "");
  }
}

TEST(Compression, TorchsOwnAttentionAndSoftmaxMayBeAskedFor) {
  const at::Tensor x = at::randn({2, 4, 32, 16}).requires_grad_();
  const auto run = [&](Compressor& compressor) {
    const CompressionScope scope(compressor);
    const at::Tensor y = at::scaled_dot_product_attention(x * 1.0, x * 2.0, x * 3.0);
    return at::log_softmax(y, 3).grad_fn()->name();
  };
  Compressor ours, torchs;
  torchs.leave_alone("aten::scaled_*").leave_alone("aten::_log_softmax");
  EXPECT_NE(run(ours).find("fewbit"), std::string::npos);
  EXPECT_EQ(run(torchs), "LogSoftmaxBackward0");
  EXPECT_EQ(ours.sites().size(), 4U) << ours.report();
  EXPECT_TRUE(torchs.sites().empty()) << torchs.report();
}

/// The codec of what one product keeps, after a measurement.
std::string codec_for(const at::Tensor& x, double bits) {
  Compressor compressor({.bits = bits});
  const at::Tensor weight = at::ones_like(x).requires_grad_();
  for (int step = 0; step < 2; ++step) {
    const CompressionScope scope(compressor);
    const at::Tensor y = (x.detach().requires_grad_() * 1.0) * weight;
  }
  return compressor.sites().at(0).codec;
}

TEST(Compression, OutliersAreNotRotated) {
  at::Tensor x = at::randn({64, 256});
  EXPECT_EQ(codec_for(x, 1), "rotated, 1 bit");
  x.select(1, 7).fill_(30.0);
  EXPECT_EQ(codec_for(x, 1), "group, 1 bit");
}

// A norm's gradient knows nothing of the mean of its input, so neither do its bits.
TEST(Compression, AMeanBuysANormNoFewerBits) {
  for (const double mean : {0.0, 10.0, 30.0}) {
    const at::Tensor x = input().requires_grad_();
    const at::Tensor weight = at::randn({kWidth, kWidth}).requires_grad_();
    const at::Tensor scale = at::ones({kWidth}).requires_grad_();
    Compressor compressor({.bits = 3});
    for (int step = 0; step < 3; ++step) {
      const CompressionScope scope(compressor);
      const at::Tensor normed = at::layer_norm(x * 1.0 + mean, {kWidth}, scale);
      const at::Tensor y = at::mm(x * 2.0, weight) + normed;
    }
    ASSERT_EQ(compressor.sites().size(), 2U);
    for (const Compressor::Site& site : compressor.sites()) {
      EXPECT_EQ(site.codec, "rotated, 3 bits") << mean << '\n' << compressor.report();
    }
  }
}

TEST(Compression, ASmallBatchMovesNoPlaces) {
  const at::Tensor narrow = at::randn({4, kWidth}).requires_grad_();
  const at::Tensor wide = at::randn({kWidth, kWidth}).requires_grad_();
  Compressor compressor({.bits = 2});
  for (const int64_t batch : {512, 200}) {
    const at::Tensor x = at::randn({batch, kWidth}).requires_grad_();
    const CompressionScope scope(compressor);
    const at::Tensor first = at::mm(x.narrow(1, 0, 4) * 1.0, narrow);
    const at::Tensor second = at::mm(x * 2.0, wide);
  }
  const auto sites = compressor.sites();
  ASSERT_EQ(sites.size(), 2U);
  EXPECT_EQ(sites[0].elements, 512 * 4);
  EXPECT_EQ(sites[1].elements, 200 * kWidth);
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
  const at::Tensor second = gradients(model, x, &compressor);
  const at::Tensor third = gradients(model, x, &compressor);
  at::manual_seed(5);
  EXPECT_TRUE(at::equal(gradients(model, x, &other), second));
  EXPECT_FALSE(at::equal(third, second));
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
  EXPECT_EQ(compressor.sites().size(), 4U) << compressor.report();
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
  EXPECT_EQ(compressor.sites().size(), 2U) << compressor.report();
  for (const Compressor::Site& site : compressor.sites()) EXPECT_EQ(site.elements, 100 * kWidth);
}

TEST(Compression, SeveralModelsScopesAndThreads) {
  const auto run = [] {
    auto model = mlp();
    Compressor compressor({.bits = 2});
    for (int step = 0; step < 5; ++step) gradients(model, at::randn({100, kWidth}), &compressor);
    return compressor.sites();
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

TEST(Compression, RefusesOptionsByName) {
  EXPECT_THROW(Compressor({.bits = 0.5}), c10::Error);
  EXPECT_THROW(Compressor({.bits = 9}), c10::Error);
  EXPECT_THROW(Compressor({.activation_bits = 0}), c10::Error);
  EXPECT_THROW(Compressor({.group = 100}), c10::Error);
  EXPECT_THROW(Compressor().rule("aten::mm", Bits{9}), c10::Error);
}

}  // namespace fewbit::compression_test
