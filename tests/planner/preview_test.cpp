// What budgets of bits keep and peak at, by running them.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>
#include <torch/nn/modules/transformercoder.h>

#include "fewbit/compressor.hpp"

namespace fewbit::preview_test {

using Loss = std::function<at::Tensor()>;

/// Three layers of width 256 with dropout, 512 words.
Loss encoder() {
  torch::nn::TransformerEncoder model(
      torch::nn::TransformerEncoderOptions(torch::nn::TransformerEncoderLayerOptions(256, 4)
                                               .dim_feedforward(1024)
                                               .dropout(0.1)
                                               .activation(torch::kGELU),
                                           3));
  const at::Tensor x = at::randn({64, 8, 256}), target = at::randn({64, 8, 256});
  return [=]() mutable { return at::mse_loss(model->forward(x), target); };
}

/// Four times convolution, batch norm and ReLU, then pooling, on 16 pictures.
Loss convolutions() {
  torch::nn::Sequential model;
  for (const int64_t channels : {3, 32, 32, 32}) {
    model->push_back(
        torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, 32, 3).padding(1).bias(false)));
    model->push_back(torch::nn::BatchNorm2d(32));
    model->push_back(torch::nn::ReLU());
  }
  model->push_back(torch::nn::MaxPool2d(2));
  model->push_back(torch::nn::Flatten());
  model->push_back(torch::nn::Linear(32 * 256, 10));
  const at::Tensor x = at::randn({16, 3, 32, 32});
  const at::Tensor targets = at::randint(10, {16}, at::kLong);
  return [=]() mutable { return at::cross_entropy_loss(model->forward(x), targets); };
}

double less(int64_t exact, int64_t bytes) {
  return static_cast<double>(exact) / static_cast<double>(bytes);
}

TEST(Preview, TwoBitsKeepTenTimesLessAndPeakNearHalf) {
  at::manual_seed(1);
  const struct {
    const char* name;
    Loss loss;
    double kept, peak;  ///< times less, at least
  } models[] = {{"TransformerEncoder", encoder(), 10.0, 1.9},
                {"convolution, norm, ReLU", convolutions(), 12.0, 1.7}};
  for (const auto& [name, loss, kept, peak] : models) {
    const BudgetPreview preview = preview_budgets(loss, {.bits = 2});
    const BudgetPreview::Row &exact = preview.rows[0], &two = preview.rows[3];
    ASSERT_EQ(two.bits, 2.0);
    EXPECT_GE(less(exact.bytes, two.bytes), kept) << name << '\n' << preview.text();
    EXPECT_GE(less(exact.peak, two.peak), peak) << name << '\n' << preview.text();
    for (const BudgetPreview::Row& row : preview.rows) EXPECT_GE(row.peak, row.bytes) << name;
  }
}

}  // namespace fewbit::preview_test
