// Training for a long time takes no more memory than training for a while.

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/memory.hpp"

namespace fewbit::soak_test {

constexpr int kSteps = test::kAddressSanitizer ? 2000 : 100000;

/// Less than 12 bytes a step.
constexpr int64_t kAllowedGrowth = test::kAddressSanitizer ? 4096 : 1 << 20;

/// One step of gradient descent.
void train(torch::nn::Sequential& model, const at::Tensor& x) {
  model->forward(x).square().mean().backward();
  const at::NoGradGuard no_grad;
  for (at::Tensor& weight : model->parameters()) {
    weight.sub_(weight.grad(), 1e-3);
    weight.mutable_grad().reset();
  }
}

/// Bytes by which memory grows from a tenth of the steps to their end.
template <class Step>
int64_t growth(int steps, const Step& step) {
  for (int i = 0; i < steps / 10; ++i) step();
  const int64_t before = test::bytes_in_use();
  for (int i = steps / 10; i < steps; ++i) step();
  return test::bytes_in_use() - before;
}

TEST(Soak, MemoryStaysFlatWithModulesAndAScopeForEveryStep) {
  torch::nn::Sequential model(torch::nn::Linear(4, 8), nn::GELU(nn::GELUOptions().bits(3)),
                              torch::nn::SiLU());
  const at::Tensor x = at::randn({8, 4});
  const int64_t grown = growth(kSteps, [&] {
    const ActivationScope scope({.bits = 2});
    train(model, x);
  });
  EXPECT_LT(grown, kAllowedGrowth);
}

TEST(Soak, MemoryStaysFlatWhereAllThatIsKeptIsCoded) {
  torch::nn::Sequential model(torch::nn::Linear(32, 64), torch::nn::GELU(),
                              torch::nn::Linear(64, 32));
  const at::Tensor x = at::randn({64, 32});
  Compressor compressor({.bits = 1.5});
  const int threads = at::get_num_threads();
  at::set_num_threads(1);  // nothing here is large enough for more
  const int64_t grown = growth(kSteps / 10, [&] {
    at::Tensor loss;
    {
      const CompressionScope scope(compressor);
      loss = at::log_softmax(model->forward(x), 1).square().mean();
    }
    loss.backward();
    const at::NoGradGuard no_grad;
    for (at::Tensor& weight : model->parameters()) weight.mutable_grad().reset();
  });
  at::set_num_threads(threads);
  EXPECT_LT(grown, kAllowedGrowth);
  EXPECT_EQ(compressor.sites().size(), 4U) << compressor.report();
}

}  // namespace fewbit::soak_test
