#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/transformerlayer.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/autograd_node.hpp"

namespace fewbit::activation_scope_test {

using test::is_few_bit;
using test::node_of;

at::Tensor input() {
  return at::randn({6, 8}).requires_grad_();
}

TEST(ActivationScope, ReplacesModulesAndFunctionsInsideAndNothingOutside) {
  const at::Tensor x = input();
  EXPECT_EQ(node_of(at::gelu(x)), "GeluBackward0");
  {
    ActivationScope scope({.bits = 3});
    EXPECT_TRUE(is_few_bit(at::gelu(x)));
    EXPECT_TRUE(is_few_bit(torch::nn::SiLU()(x)));
    EXPECT_TRUE(is_few_bit(at::relu6(x)));
    EXPECT_TRUE(is_few_bit(at::selu(x)));
    EXPECT_EQ(node_of(at::softplus(x)), "SoftplusBackward0");
    EXPECT_EQ(node_of(at::log_sigmoid(x)), "LogSigmoidBackward0");
    EXPECT_EQ(node_of(at::elu(x)), "EluBackward0");
    EXPECT_EQ(node_of(at::celu(x, 1.5)), "CeluBackward0");
    scope.rule("softplus", Bits{3}).rule("logsigmoid", Bits{3}).rule("celu", Bits{3});
    EXPECT_TRUE(is_few_bit(at::softplus(x)));
    EXPECT_TRUE(is_few_bit(at::celu(x, 1.5)));
    EXPECT_TRUE(is_few_bit(at::log_sigmoid(x)));
    EXPECT_EQ(node_of(at::sin(x)), "SinBackward0");
  }
  EXPECT_EQ(node_of(at::gelu(x)), "GeluBackward0");
}

TEST(ActivationScope, KeepsValuesAndGivesTheTablesGradient) {
  const at::Tensor x = at::randn({500});
  at::Tensor inside = x.clone().requires_grad_();
  at::Tensor direct = x.clone().requires_grad_();
  at::Tensor y;
  {
    const ActivationScope scope({.bits = 2});
    y = at::gelu(inside);
  }
  EXPECT_TRUE(at::allclose(y, at::gelu(x), 1e-6, 1e-6));
  y.sum().backward();
  gelu(direct, Bits{2}).sum().backward();
  EXPECT_TRUE(at::equal(inside.grad(), direct.grad()));
}

TEST(ActivationScope, InPlaceFormsStayInPlace) {
  at::Tensor x = input();
  const ActivationScope scope({.bits = 3});
  at::Tensor hidden = x * 2;
  const void* memory = hidden.const_data_ptr();
  at::silu_(hidden);
  EXPECT_EQ(hidden.const_data_ptr(), memory);
  EXPECT_TRUE(at::allclose(hidden, at::silu(x.detach() * 2), 1e-6, 1e-6));
  hidden.sum().backward();
  at::Tensor again = x.detach().clone().requires_grad_();
  silu(again * 2, Bits{3}).sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), again.grad()));
}

TEST(ActivationScope, LeavesAloneWhatKeepsNothingAndSaysWhy) {
  ActivationScope scope;
  at::gelu(at::randn({10}));
  {
    const at::NoGradGuard no_grad;
    at::gelu(input());
  }
  EXPECT_FALSE(is_few_bit(at::relu(input())));
  EXPECT_FALSE(is_few_bit(at::elu(input(), 1.0, 2.0, 3.0)));
  const auto entries = scope.entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].outcome, "keeps nothing: no gradient asked");
  EXPECT_EQ(entries[0].calls, 2);
  EXPECT_EQ(entries[1].outcome, "torch keeps its output only; a rule replaces it");
  EXPECT_EQ(entries[2].outcome, "scales other than elu's, celu's and selu's");
  EXPECT_NE(scope.report().find("left alone: keeps nothing"), std::string::npos);
}

TEST(ActivationScope, LeavesAloneParametersThatHaveNoTable) {
  ActivationScope scope;
  const at::Tensor x = input();
  EXPECT_TRUE(at::equal(at::leaky_relu(x, 1.0), x));
  EXPECT_EQ(node_of(at::hardtanh(x, 1.0, 1.0)), "HardtanhBackward0");
  ASSERT_EQ(scope.entries().size(), 2u);
  EXPECT_FALSE(scope.entries()[0].replaced);
  EXPECT_FALSE(scope.entries()[1].replaced);
  EXPECT_NE(scope.report().find("there is nothing to store"), std::string::npos);
}

TEST(ActivationScope, RefusesTheGeluThatTorchRefuses) {
  const ActivationScope scope;
  EXPECT_THROW(at::gelu(input(), "tanhh"), c10::Error);
  EXPECT_TRUE(is_few_bit(at::gelu(input(), "tanh")));
}

TEST(ActivationScope, RulesChooseBitsTablesAndExceptions) {
  ActivationScope scope({.bits = 3});
  scope.rule("silu", Bits{4}).rule("relu", Bits{1}).leave_alone("mish");
  scope.rule("gelu", Table::builtin("gelu", "levels_mixture_b2"));
  at::silu(input());
  at::relu(input());
  at::mish(input());
  at::gelu(input());
  std::vector<std::string> outcomes;
  for (const auto& entry : scope.entries()) outcomes.push_back(entry.outcome);
  EXPECT_EQ(outcomes, (std::vector<std::string>{"smoothed_normal_b4", "levels_uniform_b1",
                                                "left alone by rule", "levels_mixture_b2"}));
  EXPECT_THROW(scope.rule("gelo", Bits{3}), c10::Error);
  EXPECT_THROW(scope.rule("gelu", Bits{0}), c10::Error);
  EXPECT_THROW(scope.rule("silu", Table::standard("gelu", Bits{3})), c10::Error);
  EXPECT_THROW(ActivationScope({.bits = 12}), c10::Error);
}

TEST(ActivationScope, RulesKnowTheAliasesOfTheRegistry) {
  const auto outcome_with = [](const auto& set_rule) {
    ActivationScope scope({.bits = 3});
    set_rule(scope);
    at::silu(input());
    return scope.entries().at(0).outcome;
  };
  EXPECT_EQ(outcome_with([](ActivationScope& scope) { scope.rule("swish", Bits{4}); }),
            "smoothed_normal_b4");
  EXPECT_EQ(outcome_with([](ActivationScope& scope) { scope.leave_alone("swish"); }),
            "left alone by rule");
  EXPECT_EQ(outcome_with([](ActivationScope& scope) {
              scope.rule("swish", Table::builtin("silu", "levels_mixture_b2"));
            }),
            "levels_mixture_b2");
}

TEST(ActivationScope, NestsAndEndsWithExceptions) {
  const ActivationScope outer({.bits = 3});
  try {
    ActivationScope inner({.bits = 1});
    at::gelu(input());
    EXPECT_EQ(inner.entries().size(), 1u);
    throw std::runtime_error("in the middle");
  } catch (const std::runtime_error&) {
  }
  at::gelu(input());
  ASSERT_EQ(outer.entries().size(), 1u);
  EXPECT_EQ(outer.entries()[0].outcome, "smoothed_normal_b3");
  EXPECT_EQ(ActivationScope::current(), &outer);
}

TEST(ActivationScope, BelongsToItsThread) {
  const ActivationScope scope;
  std::string other;
  std::thread([&] { other = node_of(at::gelu(at::randn({3}).requires_grad_())); }).join();
  EXPECT_EQ(other, "GeluBackward0");
}

TEST(ActivationScope, IsOffInBackward) {
  at::Tensor x = input();
  ActivationScope scope;
  std::string inside;
  at::Tensor y = x * 2;
  y.register_hook([&](const at::Tensor&) {
    const at::AutoGradMode grad(true);
    inside = node_of(at::gelu(at::randn({3}).requires_grad_()));
  });
  y.sum().backward();
  EXPECT_EQ(inside, "GeluBackward0");
}

TEST(ActivationScope, ShrinksAnUnchangedTransformerLayer) {
  torch::nn::TransformerEncoderLayer layer(
      torch::nn::TransformerEncoderLayerOptions(32, 4).dim_feedforward(128).dropout(0.0).activation(
          torch::kGELU));
  const at::Tensor x = at::randn({10, 4, 32});
  const auto bytes = [&] {
    SavedBytes meter;
    at::Tensor y;
    {
      const auto watch = meter.watch();
      y = layer->forward(x);
    }
    return meter.unique_bytes();
  };
  const int64_t exact = bytes();
  const ActivationScope scope({.bits = 3});
  const int64_t elements = 10 * 4 * 128;
  EXPECT_EQ(exact - bytes(), elements * 4 - elements * 3 / 8);
}

}  // namespace fewbit::activation_scope_test
