// The noise that coding adds to gradients, against its definition.
#include "fewbit/noise_preview.hpp"

#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

#include "tests/support/refusal.hpp"

namespace fewbit::noise_preview_test {

/// A network, batches, and the loss of one.
struct Network {
  torch::nn::Sequential model;
  std::vector<at::Tensor> batches;

  explicit Network(int64_t count, double dropout = 0.0) {
    torch::manual_seed(1);
    model->push_back(torch::nn::Linear(64, 256));
    model->push_back(torch::nn::GELU());
    if (dropout > 0.0) model->push_back(torch::nn::Dropout(dropout));
    model->push_back(torch::nn::Linear(256, 64));
    for (int64_t i = 0; i < count; ++i) batches.push_back(at::randn({32, 64}));
  }

  at::Tensor loss(int64_t batch) {
    const at::Tensor& x = batches[static_cast<size_t>(batch)];
    return (model->forward(x) - x).square().mean();
  }
  NoisePreview noise(const std::vector<double>& bits, const CompressorOptions& options = {}) {
    return preview_noise([this](int64_t batch) { return loss(batch); },
                         static_cast<int64_t>(batches.size()), model->named_parameters(), options,
                         bits);
  }
  at::Tensor gradient(int64_t batch, Compressor* compressor) {
    at::Tensor value;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      value = loss(batch);
    }
    std::vector<at::Tensor> parts;
    for (const at::Tensor& part : torch::autograd::grad({value}, model->parameters())) {
      parts.push_back(part.flatten());
    }
    return at::cat(parts).to(at::kDouble);
  }
};

double variance(const at::Tensor& gradients) {
  return gradients.var(0, /*unbiased=*/true).sum().item().toDouble();
}

TEST(NoisePreview, IsTheErrorOverTheVarianceBetweenBatches) {
  Network network(24);
  const NoisePreview noise = network.noise({2.0});
  Compressor compressor({.bits = 2});
  for (int64_t i = 0; i < 5; ++i) network.gradient(i, &compressor);
  std::vector<at::Tensor> exact, coded;
  for (int64_t i = 0; i < 24; ++i) {
    exact.push_back(network.gradient(i, nullptr));
    coded.push_back(network.gradient(i, &compressor));
  }
  const at::Tensor right = at::stack(exact), ours = at::stack(coded);
  const double added = (ours - right).square().sum(1).mean().item().toDouble() / variance(right);
  ASSERT_EQ(noise.rows.size(), 1U);
  EXPECT_NEAR(noise.rows[0].added, added, 0.15 * added);
  EXPECT_LT(noise.rows[0].standard_error, 0.2 * added);
  // Coded gradients differ between batches by both.
  EXPECT_NEAR(variance(ours) / variance(right), 1.0 + added, 0.1 * (1.0 + added));
  int64_t bytes = 0;
  for (const Compressor::Site& site : compressor.sites()) bytes += site.bytes_after;
  EXPECT_EQ(noise.rows[0].bytes, bytes);
}

TEST(NoisePreview, FallsWithBitsAndPicksTheFewest) {
  Network network(4);
  const NoisePreview noise = network.noise({3.0, 1.0, 2.0});
  ASSERT_EQ(noise.rows.size(), 3U);
  EXPECT_EQ(noise.rows[0].bits, 1.0);
  EXPECT_GT(noise.rows[0].added, 2 * noise.rows[1].added);
  EXPECT_GT(noise.rows[1].added, 2 * noise.rows[2].added);
  EXPECT_EQ(noise.fewest_bits(noise.rows[1].added), 2.0);
  EXPECT_EQ(noise.fewest_bits(1e9), 1.0);
  EXPECT_NE(test::refusal([&] { noise.fewest_bits(0.0); }).find("which 3 bits add"),
            std::string::npos);
  EXPECT_NE(noise.text().find("added noise"), std::string::npos);
}

// Where nothing is coded nothing is added, so masks are the same; generators and gradients stay.
TEST(NoisePreview, DrawsTheSameAndLeavesNoTrace) {
  Network network(3, 0.5);
  network.loss(0).backward();
  const at::Tensor before = network.model->parameters()[0].grad().clone();
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
  const at::Tensor state = generator.get_state();
  const NoisePreview noise = network.noise({2.0}, {.scheme = Scheme::gact, .level = 0});
  EXPECT_EQ(noise.rows[0].added, 0.0);
  EXPECT_TRUE(at::equal(generator.get_state(), state));
  EXPECT_TRUE(at::equal(network.model->parameters()[0].grad(), before));
}

TEST(NoisePreview, RefusesWhatTellsNothing) {
  Network network(1);
  EXPECT_EQ(test::refusal([&] { network.noise({2.0}); }),
            "fewbit::preview_noise: batches is 1, accepted: 2 or more");
  Network other(2);
  EXPECT_EQ(test::refusal([&] { other.noise({9.0}); }),
            "fewbit::Compressor: bits is 9, accepted: 0.5 to 8");
  EXPECT_EQ(test::refusal([&] {
              preview_noise([](int64_t) { return at::ones({}).requires_grad_(); }, 2,
                            other.model->named_parameters());
            }),
            "fewbit::preview_noise: loss gives no gradient to any parameter");
}

}  // namespace fewbit::noise_preview_test
