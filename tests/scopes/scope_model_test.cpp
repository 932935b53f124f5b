// Whole models inside a scope: what torch runs by ways of its own.

#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>
#include <torch/jit.h>
#include <torch/nn/modules/transformercoder.h>

#include "fewbit/fewbit.hpp"

namespace fewbit::scope_model_test {

/// f(x) whose gradient is the table's step function, by torch's own operations.
at::Tensor by_step_function(const at::Tensor& x, const Table& table) {
  const Table::Steps& steps = table.steps(x.scalar_type());
  const at::Tensor interval =
      at::bucketize(x.detach(), at::tensor(steps.thresholds, x.options().requires_grad(false)));
  const at::Tensor code = at::tensor(steps.codes, at::kLong).index({interval});
  const at::Tensor slope = at::tensor(steps.levels, x.options().requires_grad(false)).index({code});
  const at::Tensor value = activation(x.detach(), table);
  return value + slope * (x - x.detach());
}

torch::nn::TransformerEncoder encoder(const torch::nn::activation_t& activation) {
  at::manual_seed(6);
  return torch::nn::TransformerEncoder(torch::nn::TransformerEncoderOptions(
      torch::nn::TransformerEncoderLayerOptions(16, 2).dim_feedforward(48).dropout(0.1).activation(
          activation),
      2));
}

/// Gradients of a training step, dropout included.
std::vector<at::Tensor> gradients(torch::nn::TransformerEncoder model) {
  model->train();
  at::manual_seed(7);
  model->forward(at::randn({5, 3, 16})).square().sum().backward();
  std::vector<at::Tensor> all;
  for (const at::Tensor& weight : model->parameters()) all.push_back(weight.grad());
  return all;
}

constexpr const char* kScript = R"(
def forward(self, x):
    return torch.gelu(x * 2.0) * 3.0 + torch.silu(x)
)";

at::Tensor few_bit_gradient(const at::Tensor& input) {
  at::Tensor x = input.clone().requires_grad_();
  (gelu(x * 2.0, Bits{2}) * 3.0 + silu(x, Bits{2})).sum().backward();
  return x.grad();
}

TEST(ScopeModel, TransformerEncoderTrainsWithTheTablesStepFunction) {
  const Table table = Table::standard("gelu", Bits{3});
  const auto wanted =
      gradients(encoder([&](const at::Tensor& x) { return by_step_function(x, table); }));
  const auto exact = gradients(encoder(torch::kGELU));
  const ActivationScope scope({.bits = 3});
  const auto inside = gradients(encoder(torch::kGELU));
  ASSERT_EQ(scope.entries().size(), 1u);
  EXPECT_EQ(scope.entries()[0].calls, 2);
  EXPECT_TRUE(scope.entries()[0].replaced);
  ASSERT_EQ(inside.size(), wanted.size());
  bool differs = false;
  for (size_t i = 0; i < inside.size(); ++i) {
    EXPECT_TRUE(at::equal(inside[i], wanted[i])) << i;
    differs = differs || !at::equal(inside[i], exact[i]);
  }
  EXPECT_TRUE(differs);
}

TEST(ScopeModel, ScriptedModuleIsReplacedInEveryRun) {
  torch::jit::Module module("scripted");
  module.define(kScript);
  const at::Tensor input = at::randn({400});
  const at::Tensor wanted = few_bit_gradient(input);
  for (int run = 0; run < 5; ++run) {  // torch profiles the first and optimises the later ones
    at::Tensor x = input.clone().requires_grad_();
    const ActivationScope scope({.bits = 2});
    module.forward({x}).toTensor().sum().backward();
    EXPECT_TRUE(at::allclose(x.grad(), wanted, 1e-6, 1e-6)) << run;
    ASSERT_EQ(scope.entries().size(), 2u);
    EXPECT_TRUE(scope.entries()[0].replaced && scope.entries()[1].replaced) << scope.report();
  }
}

TEST(ScopeModel, ScriptsAreOptimisedAgainAfterTheLastScope) {
  EXPECT_TRUE(torch::jit::getGraphExecutorOptimize());
  {
    const ActivationScope outer;
    { const ActivationScope inner; }
    EXPECT_FALSE(torch::jit::getGraphExecutorOptimize());
  }
  EXPECT_TRUE(torch::jit::getGraphExecutorOptimize());
}

// Torch keeps the plan of an optimised script for good.
TEST(ScopeModel, ScriptsThatWereOptimisedOutsideStayExactAndAreListedAsLeftAlone) {
  const auto unit = torch::jit::compile("def f(x):\n    return torch.gelu(x * 2.0) * 3.0\n");
  const auto gradient = [&] {
    at::Tensor x = at::linspace(-2, 2, 400).requires_grad_();
    unit->run_method("f", x).toTensor().sum().backward();
    return x.grad();
  };
  for (int run = 0; run < 3; ++run) gradient();
  const at::Tensor exact = gradient();
  const ActivationScope scope;
  EXPECT_TRUE(at::equal(gradient(), exact));
  ASSERT_EQ(scope.entries().size(), 1u);
  EXPECT_FALSE(scope.entries()[0].replaced) << scope.report();
}

}  // namespace fewbit::scope_model_test
