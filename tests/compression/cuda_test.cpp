// Whole-model features on a GPU.
#include "tests/support/cuda_test.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "fewbit/fewbit.hpp"

namespace fewbit::cuda_test {

class CudaSession : public test::CudaTest {};

torch::nn::Sequential plain_model() {
  at::manual_seed(4);
  return torch::nn::Sequential(torch::nn::Linear(16, 32), torch::nn::GELU(),
                               torch::nn::Linear(32, 8), torch::nn::SiLU());
}

torch::nn::Sequential few_bit_model() {
  at::manual_seed(4);
  return torch::nn::Sequential(torch::nn::Linear(16, 32), nn::GELU(nn::GELUOptions().bits(3)),
                               torch::nn::Linear(32, 8), nn::SiLU(nn::SiLUOptions().bits(2)));
}

TEST_F(CudaSession, AModelHasTheGradientsOfTheCpu) {
  at::manual_seed(5);
  const at::Tensor x = at::randn({64, 16});
  torch::nn::Sequential cpu = few_bit_model(), cuda = few_bit_model();
  cuda->to(test::kDevice);
  cpu->forward(x).sum().backward();
  cuda->forward(x.to(test::kDevice)).sum().backward();
  const auto expected = cpu->parameters(), found = cuda->parameters();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(at::allclose(found[i].grad().cpu(), expected[i].grad(), 1e-3, 1e-3)) << i;
  }
}

TEST_F(CudaSession, ATrainingStepNeverWaitsForTheDevice) {
  torch::nn::Sequential model = few_bit_model();
  model->to(test::kDevice);
  const at::Tensor x = at::randn({64, 16}, test::kDevice);
  Calibrator calibrator(*model);
  model->forward(x).sum().backward();
  const test::NoWaiting guard;
  for (int step = 0; step < 3; ++step) model->forward(x).sum().backward();
  EXPECT_THROW(x.sum().item<float>(), c10::Error);  // the guard is on
}

TEST_F(CudaSession, ACheckpointDrawsTheSameNumbersAgain) {
  torch::nn::Sequential model = plain_model();
  model->to(test::kDevice);
  const auto run = [&](const at::Tensor& x) { return at::dropout(model->forward(x), 0.5, true); };
  const at::Tensor x = at::randn({64, 16}, test::kDevice).requires_grad_();
  const auto gradients = [&](const std::function<at::Tensor(const at::Tensor&)>& function) {
    at::manual_seed(6);
    const at::Tensor loss = function(x * 1.0).pow(2).sum();
    at::rand({7}, test::kDevice);
    return torch::autograd::grad({loss}, {x})[0];
  };
  const at::Tensor expected = gradients(run);
  SavedBytes meter;
  const auto watch = meter.watch();  // whose callbacks the engine's thread has too
  const at::Tensor found = gradients([&](const at::Tensor& y) { return checkpoint(run, y); });
  EXPECT_TRUE(at::equal(found, expected));
}

TEST_F(CudaSession, AScopeReplacesTheActivationsOfAModel) {
  torch::nn::Sequential model = plain_model();
  model->to(test::kDevice);
  ActivationScope scope({.bits = 3});
  model->forward(at::randn({64, 16}, test::kDevice)).sum().backward();
  ASSERT_EQ(scope.entries().size(), 2u);
  for (const auto& entry : scope.entries()) {
    EXPECT_TRUE(entry.replaced) << entry.function << ": " << entry.outcome;
  }
}

TEST_F(CudaSession, TheMeterCountsTheBytesOfTheCpu) {
  const auto count = [](at::Device device) {
    torch::nn::Sequential model = few_bit_model();
    model->to(device);
    const at::Tensor x = at::randn({64, 16}).to(device);
    SavedBytes meter;
    auto watch = meter.watch();
    const at::Tensor y = model->forward(x);
    return meter.unique_bytes();
  };
  EXPECT_EQ(count(test::kDevice), count(at::kCPU));
}

/// Keeps a tensor of every kind: norms, attention, pooling, masks, probabilities.
struct Layers {
  torch::nn::Conv2d first{torch::nn::Conv2dOptions(3, 16, 3).padding(1)};
  torch::nn::BatchNorm2d norm{16};
  torch::nn::Linear second{16, 48};
  torch::nn::LayerNorm last{torch::nn::LayerNormOptions({16})};

  std::vector<at::Tensor> parameters() {
    std::vector<at::Tensor> all;
    for (const auto& module : std::initializer_list<std::shared_ptr<torch::nn::Module>>{
             first.ptr(), norm.ptr(), second.ptr(), last.ptr()}) {
      module->to(test::kDevice);
      for (const at::Tensor& parameter : module->parameters()) all.push_back(parameter);
    }
    return all;
  }

  at::Tensor loss(const at::Tensor& images) {
    at::Tensor x = at::max_pool2d(at::relu(norm(first(images))), 2);
    x = last(x.flatten(2).transpose(1, 2));
    const auto parts = second(x).chunk(3, 2);
    x = x + at::scaled_dot_product_attention(parts[0], parts[1], parts[2]);
    return at::log_softmax(x, 2).select(2, 0).mean();
  }
};

TEST_F(CudaSession, ACompressedModelHasNearlyItsGradients) {
  at::manual_seed(7);
  Layers layers;
  const std::vector<at::Tensor> parameters = layers.parameters();
  const at::Tensor images = at::randn({8, 3, 16, 16}, test::kDevice);
  const auto gradients = [&](Compressor* compressor) {
    at::Tensor loss;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      loss = layers.loss(images);
    }
    std::vector<at::Tensor> flat;
    for (const at::Tensor& one : torch::autograd::grad({loss}, parameters)) {
      flat.push_back(one.flatten());
    }
    return at::cat(flat);
  };
  const at::Tensor exact = gradients(nullptr);
  Compressor compressor({.bits = 6});
  compressor.recompute("linear", Recompute::where_better);
  for (int step = 0; step < 4; ++step) {
    const at::Tensor rest = gradients(&compressor) - exact;
    EXPECT_LT((rest.norm() / exact.norm()).item<double>(), 0.1) << compressor.report();
  }
  EXPECT_GE(compressor.sites().size(), 8u) << compressor.report();
}

// Between the steps at which errors are measured.
TEST_F(CudaSession, ACompressedStepNeverWaitsForTheDevice) {
  at::manual_seed(8);
  Layers layers;
  layers.parameters();
  const at::Tensor images = at::randn({8, 3, 16, 16}, test::kDevice);
  Compressor compressor({.bits = 2});
  const auto step = [&] {
    at::Tensor loss;
    {
      const CompressionScope scope(compressor);
      loss = layers.loss(images);
    }
    loss.backward();
  };
  for (int i = 0; i < (test::kSlowness == 1 ? 17 : 5); ++i) step();
  const test::NoWaiting guard;
  for (int i = 0; i < 3; ++i) step();
}

// Codes in the host's memory, fetched in reverse order.
TEST_F(CudaSession, CodesThatLeaveTheDeviceGiveTheSameGradients) {
  constexpr int64_t kWidth = test::kSlowness == 1 ? 512 : 96;
  at::manual_seed(9);
  std::vector<at::Tensor> weights;
  for (int i = 0; i < (test::kSlowness == 1 ? 6 : 3); ++i) {
    weights.push_back((at::randn({kWidth, kWidth}, test::kDevice) / 20).requires_grad_());
  }
  const at::Tensor x = at::randn({4 * kWidth, kWidth}, test::kDevice).requires_grad_();
  const auto gradients = [&](Compressor& compressor, bool is_asked_twice) {
    at::manual_seed(10);
    at::Tensor h = x * 1.0;
    {
      const CompressionScope scope(compressor);
      for (const at::Tensor& weight : weights) h = at::relu(at::mm(h, weight)) + h;
    }
    const at::Tensor loss = h.square().mean();
    if (is_asked_twice) torch::autograd::grad({loss}, weights, {}, /*retain_graph=*/true);
    std::vector<at::Tensor> flat;
    for (const at::Tensor& one : torch::autograd::grad({loss}, weights)) {
      flat.push_back(one.flatten());
    }
    return at::cat(flat);
  };
  Compressor stays({.bits = 4}), leaves({.bits = 4, .offload = true});
  for (int step = 0; step < (test::kSlowness == 1 ? 6 : 2); ++step) {
    const at::Tensor expected = gradients(stays, false);
    EXPECT_TRUE(at::equal(gradients(leaves, step % 2 == 1), expected)) << leaves.report();
  }
  int64_t after = 0, away = 0;
  for (const Compressor::Site& site : leaves.sites()) {
    after += site.bytes_after;
    away += site.bytes_offloaded;
  }
  EXPECT_GT(away, 10 * after) << leaves.report();
}

TEST_F(CudaSession, ACalibratorFitsTheTablesOfTheCpu) {
  const auto fits = [](at::Device device) {
    torch::nn::Sequential model = few_bit_model();
    model->to(device);
    Calibrator calibrator(*model);
    at::manual_seed(6);
    for (int step = 0; step < 3; ++step) {
      model->forward((at::randn({64, 16}) * 3 + 1).to(device));
    }
    return calibrator.fit();
  };
  const auto cpu = fits(at::kCPU), cuda = fits(test::kDevice);
  ASSERT_EQ(cuda.size(), cpu.size());
  for (size_t i = 0; i < cpu.size(); ++i) {
    EXPECT_EQ(cuda[i].note, cpu[i].note);
    EXPECT_EQ(cuda[i].elements, cpu[i].elements);
    EXPECT_NEAR(cuda[i].mean, cpu[i].mean, 1e-3);
    EXPECT_NEAR(cuda[i].error_after, cpu[i].error_after, 0.05 * cpu[i].error_after);
  }
}

TEST_F(CudaSession, ACalibratorFollowsAModelThatMoves) {
  torch::nn::Sequential model = few_bit_model();
  Calibrator calibrator(*model);
  model->forward(at::randn({64, 16}));
  model->to(test::kDevice);
  model->forward(at::randn({64, 16}, test::kDevice));
  EXPECT_EQ(calibrator.fit().front().elements, 2 * 64 * 32);
}

}  // namespace fewbit::cuda_test
