#include "fewbit/saved_bytes.hpp"

#include <iostream>

#include <gtest/gtest.h>
#include <torch/torch.h>

TEST(SavedBytes, X) {
  torch::nn::Sequential model(
      torch::nn::Linear(8, 16), torch::nn::ReLU(), torch::nn::Linear(16, 4), torch::nn::GELU(),
      torch::nn::LayerNorm(torch::nn::LayerNormOptions({4})), torch::nn::Dropout(0.5));
  fewbit::SavedBytes meter;
  auto x = torch::randn({32, 8});
  torch::Tensor y;
  {
    auto watch = meter.watch();
    y = model->forward(x);
  }
  std::cout << meter.unique_bytes() << '\n' << meter.explain();
  torch::nn::TransformerEncoderLayer layer(
      torch::nn::TransformerEncoderLayerOptions(16, 2).dim_feedforward(32).activation(
          torch::kGELU));
  meter.reset();
  {
    auto watch = meter.watch();
    y = layer->forward(torch::randn({10, 4, 16}));
  }
  std::cout << meter.unique_bytes() << '\n' << meter.explain();
  y.sum().backward();
}
