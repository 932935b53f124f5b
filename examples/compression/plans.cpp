#include "examples/compression/plans.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <iostream>
#include <optional>

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>
#include <torch/nn/modules/transformercoder.h>

#include "fewbit/compressor.hpp"

namespace fewbit::examples {
namespace {

using Loss = std::function<at::Tensor()>;

// Three layers of width 256 with dropout, 512 words.
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

// Four times convolution, batch norm and ReLU, then pooling, on 16 pictures.
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

// Of the processor, in the one thread that there is: others may be at work beside.
double step_seconds(const Loss& loss, Compressor* compressor) {
  const std::clock_t begin = std::clock();
  at::Tensor value;
  {
    std::optional<CompressionScope> scope;
    if (compressor != nullptr) scope.emplace(*compressor);
    value = loss();
  }
  value.backward();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Of the fastest steps, of several in a row in turn: a step after one of the other kind finds the
// allocator as it is in no training.
double time_of_exact(const Loss& loss) {
  constexpr int kRounds = 4, kInARow = 6;
  Compressor compressor({.bits = 2});
  const auto fastest = [&](Compressor* scope) {
    double least = step_seconds(loss, scope);
    for (int i = 1; i < kInARow; ++i) least = std::min(least, step_seconds(loss, scope));
    return least;
  };
  double exact = fastest(nullptr), coded = fastest(&compressor);
  for (int i = 1; i < kRounds; ++i) {
    exact = std::min(exact, fastest(nullptr));
    coded = std::min(coded, fastest(&compressor));
  }
  return coded / exact;
}

}  // namespace

void add_plans(Page& page, Outcome& outcome) {
  Sheet sheet{"Bytes kept", {"model", "average bits", "bytes", "times less", "time of exact"}, {}};
  const struct {
    const char* name;
    Loss loss;
    double aim;  // times less at 2 bits
  } models[] = {{"TransformerEncoder", encoder(), 9.0},
                {"convolution, norm, ReLU", convolutions(), 10.0}};
  for (const auto& [name, loss, aim] : models) {
    const BudgetPreview planned = preview_budgets(loss, {.bits = 2});
    for (const BudgetPreview::Row& row : planned.rows) {
      const double less =
          static_cast<double>(planned.rows[0].bytes) / static_cast<double>(row.bytes);
      const std::string time = row.bits == 2.0 ? number(time_of_exact(loss)) : "-";
      sheet.rows.push_back({name, row.bits == 0.0 ? "exact" : number(row.bits),
                            std::to_string(row.bytes), number(less), time});
      if (row.bits != 2.0) continue;
      outcome.expect(less >= aim, std::string(name) + ", 2 bits: keeps " + number(less) +
                                      " times less, at least " + number(aim));
    }
  }
  page.add(sheet);
  std::cout << markdown(sheet);
}

}  // namespace fewbit::examples
