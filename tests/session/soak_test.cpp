// Training for a long time takes no more memory than training for a while.

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
int64_t growth(const Step& step) {
  for (int i = 0; i < kSteps / 10; ++i) step();
  const int64_t before = test::bytes_in_use();
  for (int i = kSteps / 10; i < kSteps; ++i) step();
  return test::bytes_in_use() - before;
}

TEST(Soak, MemoryStaysFlatWithModulesAndAScopeForEveryStep) {
  torch::nn::Sequential model(torch::nn::Linear(4, 8), nn::GELU(nn::GELUOptions().bits(3)),
                              torch::nn::SiLU());
  const at::Tensor x = at::randn({8, 4});
  const int64_t grown = growth([&] {
    const ActivationScope scope({.bits = 2});
    train(model, x);
  });
  EXPECT_LT(grown, kAllowedGrowth);
}

}  // namespace fewbit::soak_test
