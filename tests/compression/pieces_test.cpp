// What backward reads in pieces: the gradients of the whole, at a lower peak.
#include <functional>
#include <utility>

#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>

#include "fewbit/fewbit.hpp"
#include "fewbit/peak_bytes.hpp"
#include "pieces/piecewise.hpp"
#include "tests/support/compression_model.hpp"

namespace fewbit::pieces_of_models_test {

using namespace test;
using torch::autograd::grad;

torch::nn::Sequential convolutions() {
  torch::nn::Sequential model;
  for (int i = 0; i < 4; ++i) {
    model->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 3).padding(1)));
    model->push_back(torch::nn::BatchNorm2d(16));
    model->push_back(torch::nn::ReLU());
  }
  return model;
}

torch::nn::Sequential layers(double dropout = 0.0) {
  torch::nn::Sequential model;
  for (int i = 0; i < 3; ++i) {
    model->push_back(torch::nn::LayerNorm(torch::nn::LayerNormOptions({128})));
    model->push_back(torch::nn::Linear(128, 128));
    model->push_back(torch::nn::GELU());
    if (dropout > 0.0) model->push_back(torch::nn::Dropout(dropout));
  }
  return model;
}

struct Walks {
  at::Tensor in_pieces, whole;
};

/// Of one graph, with and without a graph of its own, for which saved tensors come whole.
Walks walks(torch::nn::Sequential& model, const at::Tensor& x, Compressor& compressor) {
  for (int step = 0; step < 2; ++step) gradients(model, x, &compressor);
  at::Tensor loss;
  {
    const CompressionScope scope(compressor);
    loss = model->forward(x).square().mean();
  }
  const at::Tensor in_pieces = flat(grad({loss}, model->parameters(), {}, true));
  return {in_pieces, flat(grad({loss}, model->parameters(), {}, true, /*create_graph=*/true))};
}

TEST(PiecesOfModels, GiveTheGradientsOfTheWhole) {
  at::manual_seed(1);
  for (auto& [model, x] : {std::pair(convolutions(), at::randn({16, 16, 32, 32})),
                           std::pair(layers(), at::randn({32, 128, 128})),
                           std::pair(layers(0.2), at::randn({32, 128, 128}))}) {
    torch::nn::Sequential trained = model;
    for (const double bits : {1.5, 4.0}) {
      Compressor compressor({.bits = bits});
      const auto [in_pieces, whole] = walks(trained, x, compressor);
      EXPECT_LT(distance(in_pieces, whole), 1e-5) << bits;
    }
    Compressor recomputing({.bits = 2});
    for (const char* kind : {"norm", "relu", "activation", "copy"}) {
      recomputing.recompute(kind, Recompute::always);
    }
    const auto [in_pieces, whole] = walks(trained, x, recomputing);
    EXPECT_LT(distance(in_pieces, whole), 1e-5);
  }
}

// Libtorch sums gradients of a norm's weights in bfloat16, pieces are summed in float.
TEST(PiecesOfModels, AreNearerTheTruthInTypesOf16Bits) {
  at::manual_seed(2);
  torch::nn::Sequential model = layers(), truth = layers();
  model->to(at::kBFloat16);
  const std::vector<at::Tensor> from = model->parameters(), to = truth->parameters();
  for (size_t i = 0; i < to.size(); ++i) to[i].set_data(from[i].to(at::kFloat));
  Compressor compressor({.bits = 8});
  const at::Tensor x = at::randn({64, 128, 128}).to(at::kBFloat16);
  for (int step = 0; step < 2; ++step) gradients(model, x, &compressor);
  const at::Tensor expected = gradients(truth, x.to(at::kFloat), nullptr);
  const double torchs = distance(gradients(model, x, nullptr).to(at::kFloat), expected);
  EXPECT_LT(distance(gradients(model, x, &compressor).to(at::kFloat), expected), torchs);
}

// Of a tensor's gradient, its place and a few pieces: less than two and a half tensors, where
// whole ones take more than four.
TEST(PiecesOfModels, LowerThePeak) {
  at::manual_seed(3);
  torch::nn::Sequential model = convolutions();
  // The first one's input is no activation, and comes whole.
  for (const at::Tensor& parameter : (*model)[0]->parameters()) parameter.set_requires_grad(false);
  const at::Tensor x = at::randn({16, 16, 64, 64});
  Compressor compressor({.bits = 2});
  for (int step = 0; step < 3; ++step) {
    const CompressionScope scope(compressor);
    model->forward(x).mean().backward();
  }
  at::Tensor loss;
  {
    const CompressionScope scope(compressor);
    loss = model->forward(x).mean();
  }
  const int64_t peak = peak_bytes([&] { loss.backward(); });
  EXPECT_LT(peak, 5 * static_cast<int64_t>(x.nbytes()) / 2);
}

// Its input is coded before what follows its output takes memory: two tensors and codes.
TEST(PiecesOfModels, ANormsInputIsGoneBeforeAThirdTensorTakesMemory) {
  at::manual_seed(4);
  const at::Tensor weight = at::randn({64, 64}).requires_grad_();
  const at::Tensor x = at::randn({16, 16, 64, 64}).requires_grad_();
  const auto norm = [](const at::Tensor& h) {
    return at::batch_norm(h, {}, {}, {}, {}, true, 0.1, 1e-5, false);
  };
  const auto whole = static_cast<int64_t>(x.nbytes());
  const std::pair<const char*, std::function<at::Tensor(const at::Tensor&)>> consumers[] = {
      {"relu", [](const at::Tensor& h) { return at::relu(h); }},
      {"gelu", [](const at::Tensor& h) { return at::gelu(h); }},
      {"layer", [&](const at::Tensor& h) { return at::matmul(h, weight); }},
      {"sum", [](const at::Tensor& h) { return h + 1; }}};
  for (const auto& [name, consume] : consumers) {
    Compressor compressor({.bits = 2});
    const auto forward = [&, consume = consume] {
      const CompressionScope scope(compressor);
      at::Tensor h = x + 1;
      h = norm(h);
      return consume(h).mean();
    };
    // Which measures: what a norm makes of its input is coded too, and compared in parts.
    EXPECT_LT(peak_bytes([&] { forward().backward(); }), 9 * whole / 2) << name;
    for (int step = 0; step < 2; ++step) forward().backward();
    EXPECT_LT(peak_bytes(forward), 5 * whole / 2) << name;
  }
}

// Its own gradient is not overwritten where a hook has seen it.
TEST(PiecesOfModels, GradientsThatOthersHoldStay) {
  at::manual_seed(4);
  torch::nn::Sequential model = convolutions();
  const at::Tensor x = at::randn({16, 16, 32, 32});
  Compressor compressor({.bits = 2});
  for (int step = 0; step < 2; ++step) gradients(model, x, &compressor);
  std::vector<at::Tensor> seen, copies;
  at::Tensor loss;
  {
    const CompressionScope scope(compressor);
    at::Tensor y = x;
    for (auto& module : *model) {
      y = module.forward(y);
      y.register_hook([&](const at::Tensor& gradient) {
        seen.push_back(gradient);
        copies.push_back(gradient.clone());
      });
    }
    loss = y.square().mean();
  }
  loss.backward();
  ASSERT_EQ(seen.size(), 12U);
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_TRUE(at::equal(seen[i], copies[i])) << i;
}

}  // namespace fewbit::pieces_of_models_test
