#pragma once

#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/functional.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include "fewbit/fewbit.hpp"
#include "tests/base/scratch_folder.hpp"

// Examples give their own things the names that they like.
#pragma GCC diagnostic ignored "-Wshadow"

namespace header_examples {

/// What the examples in the public headers take as given. They run in an empty folder.
class Example : public testing::Test {
 protected:
  Example() { std::filesystem::current_path(folder_.file("")); }
  ~Example() override { std::filesystem::current_path(before_); }

  /// Ends with a mean, so that its result is a loss.
  torch::nn::Sequential model{
      torch::nn::Linear(64, 64), torch::nn::GELU(), torch::nn::Linear(64, 64),
      torch::nn::Functional([](const at::Tensor& y) { return y.square().mean(); })};
  torch::optim::SGD optimizer{model->parameters(), 0.1};
  std::vector<torch::nn::Linear> blocks{torch::nn::Linear(64, 64), torch::nn::Linear(64, 64)};
  at::Tensor x = at::randn({32, 64});
  at::Tensor mask = at::ones({32, 64});
  at::Tensor weight = at::randn({16, 64}).requires_grad_();
  at::Tensor bias = at::zeros({16}).requires_grad_();
  at::Tensor loss;
  fewbit::Compressor compressor;

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
  fewbit::ScratchFolder folder_;
};

}  // namespace header_examples
