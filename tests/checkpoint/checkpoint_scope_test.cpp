// Checkpoints inside of scopes: what is coded, and what runs again when the scope is gone.
#include <optional>

#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/transformerlayer.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/autograd_node.hpp"
#include "tests/support/checkpoint_model.hpp"
#include "tests/support/compression_model.hpp"

namespace fewbit::checkpoint_scope_test {

using namespace test;
using torch::autograd::grad;

/// In a scope that is gone when backward runs.
template <class Scope, class... Arguments>
Function inside(const Function& function, Arguments&... arguments) {
  return [&, function](const at::Tensor& x) {
    const Scope scope(arguments...);
    return function(x);
  };
}

TEST(CheckpointScope, ACompressionScopeCodesTheInputAlone) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) { return model->forward(x); };
  Compressor compressor({.bits = 8, .activation_bits = 8});
  SavedBytes meter;
  const at::Tensor x = input().requires_grad_() * 1.0;
  at::Tensor y;
  {
    const auto watch = meter.watch();
    y = inside<CompressionScope>(checkpointed(run), compressor)(x);
  }
  ASSERT_EQ(compressor.sites().size(), 1U) << compressor.report();
  const Compressor::Site site = compressor.sites()[0];
  EXPECT_EQ(site.operation, "fewbit::checkpoint");
  EXPECT_EQ(site.argument, 0);
  EXPECT_EQ(site.elements, x.numel());
  EXPECT_EQ(meter.unique_bytes(), site.bytes_after);
  x.detach().zero_();  // harms no codes
  const at::Tensor expected = gradients(model, input(), nullptr);
  EXPECT_LT(distance(flat(grad({y.pow(2).mean()}, model->parameters())), expected), 0.02);
}

TEST(CheckpointScope, ActivationsWithinItHaveNumbersOfTheirOwn) {
  Compressor compressor({.bits = 4});
  const at::Tensor x = at::randn({64, 64}).requires_grad_();
  const auto two = [](const at::Tensor& h) { return at::gelu(at::silu(h)); };
  {
    const CompressionScope scope(compressor);
    at::gelu(checkpoint(two, x * 1.0));
  }
  std::vector<int64_t> calls;
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.operation == "fewbit::activation") calls.push_back(site.call);
  }
  EXPECT_THAT(calls, testing::ElementsAre(2));
}

TEST(CheckpointScope, LeftAloneByRuleItIsExact) {
  at::manual_seed(1);
  torch::nn::Sequential model(torch::nn::Linear(kWidth, kWidth), torch::nn::ReLU(),
                              torch::nn::Linear(kWidth, kWidth));
  const auto run = [&](const at::Tensor& x) { return model->forward(x); };
  const Tensors expected = value_and_gradients(run, input(), model->parameters());
  Compressor compressor({.bits = 1});
  compressor.leave_alone("fewbit::checkpoint");
  const Function coded = inside<CompressionScope>(checkpointed(run), compressor);
  expect_equal(value_and_gradients(coded, input(), model->parameters()), expected);
  EXPECT_EQ(compressor.sites().size(), 0U);
}

// Activations, attention and log_softmax run in the scope's form both times.
TEST(CheckpointScope, AScopesOperationsRunAgainWithoutIt) {
  at::manual_seed(4);
  torch::nn::TransformerEncoderLayer layer(torch::nn::TransformerEncoderLayerOptions(kWidth, 4)
                                               .dim_feedforward(128)
                                               .dropout(0.0)
                                               .activation(torch::kGELU));
  const auto run = [&](const at::Tensor& x) {
    const at::Tensor y = layer->forward(x);
    return at::scaled_dot_product_attention(y, y, at::log_softmax(y, -1));
  };
  const at::Tensor x = at::randn({6, 5, kWidth});
  const Tensors exact = value_and_gradients(run, x, layer->parameters());
  Compressor compressor({.bits = 8, .activation_bits = 8});
  const Function coded = inside<CompressionScope>(checkpointed(run), compressor);
  const Tensors found = value_and_gradients(coded, x, layer->parameters());
  EXPECT_EQ(compressor.sites().size(), 1U) << compressor.report();
  EXPECT_LT(distance(flat(found), flat(exact)), 0.01);
}

// Attention's own form draws its dropout in the forward, when the function runs again, and when
// backward runs it again inside of that: three times the same.
TEST(CheckpointScope, AttentionDropsTheSameEveryTime) {
  at::manual_seed(5);
  torch::nn::Linear layer(kWidth, 3 * kWidth);
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  at::Tensor state;
  const auto run = [&](const at::Tensor& x) {
    if (!state.defined()) state = generator.get_state();
    const auto parts = layer->forward(x).view({2, 15, 3, 4, kWidth / 4}).unbind(2);
    return at::scaled_dot_product_attention(parts[0].transpose(1, 2), parts[1].transpose(1, 2),
                                            parts[2].transpose(1, 2), std::nullopt, 0.3);
  };
  const at::Tensor x = at::randn({2, 15, kWidth});
  Compressor compressor({.bits = 8});
  const Function coded = inside<CompressionScope>(checkpointed(run), compressor);
  const Tensors found = value_and_gradients(coded, x, layer->parameters());
  ASSERT_EQ(compressor.sites().size(), 1U) << compressor.report();
  const Function from_there = [&](const at::Tensor& input) {
    generator.set_state(state);  // the scope drew before the function
    return run(input);
  };
  const Tensors exact = value_and_gradients(from_there, x, layer->parameters());
  EXPECT_TRUE(at::equal(found[0], exact[0]));
  EXPECT_LT(distance(flat(found), flat(exact)), 0.01);
}

TEST(CheckpointScope, AnActivationScopeMayBeGone) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) { return at::silu(model->forward(x)).relu(); };
  const ActivationScopeOptions options{.bits = 2};
  const Tensors expected =
      value_and_gradients(inside<ActivationScope>(run, options), input(), model->parameters());
  const Function checked = inside<ActivationScope>(checkpointed(run), options);
  expect_equal(value_and_gradients(checked, input(), model->parameters()), expected);
  const Function nested = inside<ActivationScope>(
      checkpointed([&](const at::Tensor& x) { return checkpoint(run, x); }), options);
  expect_equal(value_and_gradients(nested, input(), model->parameters()), expected);
}

TEST(CheckpointScope, AnActivationScopeThatIsThereIsNotAskedTwice) {
  auto model = mlp();
  const ActivationScope scope({.bits = 2});
  const auto run = [&](const at::Tensor& x) { return model->forward(x); };
  const Tensors expected = value_and_gradients(run, input(), model->parameters());
  expect_equal(value_and_gradients(checkpointed(run), input(), model->parameters()), expected);
  ASSERT_EQ(scope.entries().size(), 1U);
  EXPECT_EQ(scope.entries()[0].calls, 2);
}

TEST(CheckpointScope, ACalibratorsTablesAreThoseOfTheForward) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) { return at::silu(model->forward(x)); };
  Calibrator calibrator;
  ActivationScopeOptions options{.bits = 3};
  const auto step = [&](const Function& function) {
    return value_and_gradients(inside<ActivationScope>(function, options, calibrator), input(),
                               model->parameters());
  };
  step(checkpointed(run));
  EXPECT_EQ(calibrator.fit().size(), 2U);
  const Tensors expected = step(run);
  expect_equal(step(checkpointed(run)), expected);
}

// What the function opens it opens again, also where backward does not code.
TEST(CheckpointScope, TheFunctionMayOpenScopes) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) { return model->forward(x); };
  const ActivationScopeOptions options{.bits = 2};
  const Function scoped = inside<ActivationScope>(run, options);
  expect_same_gradients(scoped, input(), model->parameters());

  Compressor compressor({.bits = 8, .activation_bits = 8});
  const Function coded = inside<CompressionScope>(run, compressor);
  const Tensors exact = value_and_gradients(run, input(), model->parameters());
  const Tensors found = value_and_gradients(checkpointed(coded), input(), model->parameters());
  EXPECT_LT(distance(flat(found), flat(exact)), 0.02);
}

// What it codes would be held beside the input from which the function runs again.
TEST(CheckpointScope, ACompressionScopeThatTheFunctionOpensCodesNothing) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) { return model->forward(x); };
  Compressor compressor({.bits = 2, .activation_bits = 8}), around({.bits = 8});
  const Function checked = checkpointed(inside<CompressionScope>(run, compressor));
  const Tensors exact = value_and_gradients(run, input(), model->parameters());
  EXPECT_LT(distance(flat(value_and_gradients(checked, input(), model->parameters())), flat(exact)),
            1e-3);
  EXPECT_TRUE(compressor.sites().empty()) << compressor.report();
  SavedBytes meter;
  const at::Tensor x = input().requires_grad_() * 1.0;
  at::Tensor y;
  {
    const auto watch = meter.watch();
    y = inside<CompressionScope>(checked, around)(x);
  }
  ASSERT_EQ(around.sites().size(), 1U) << around.report();
  EXPECT_EQ(meter.unique_bytes(), around.sites()[0].bytes_after);
}

// A function's scopes decide about its activations in the forward alone.
TEST(CheckpointScope, BitsOfAScopeInsideMayChangeUntilBackward) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) { return at::silu(model->forward(x)).relu(); };
  for (const bool is_around : {false, true}) {
    Compressor compressor({.bits = 2}), other({.bits = 8});
    compressor.rule("gelu", Bits{3}).rule("silu", Bits{2});
    const Function scoped = inside<CompressionScope>(run, compressor);
    const at::Tensor x = input().requires_grad_() * 1.0;
    std::optional<CompressionScope> around;
    if (is_around) around.emplace(other);
    const at::Tensor before = checkpoint(scoped, x);
    compressor.rule("gelu", Bits{1}).rule("silu", Bits{7});
    const at::Tensor dx = grad({before.pow(2).sum()}, {x})[0];
    const at::Tensor after = checkpoint(scoped, x);
    if (is_around) continue;  // where x is coded
    compressor.rule("gelu", Bits{3}).rule("silu", Bits{2});
    EXPECT_TRUE(at::equal(grad({checkpoint(scoped, x).pow(2).sum()}, {x})[0], dx));
    EXPECT_FALSE(at::equal(grad({after.pow(2).sum()}, {x})[0], dx));
  }
}

TEST(CheckpointScope, ARuleForAnActivationInsideIsNotForWhatFollows) {
  const at::Tensor x = at::randn({64, kWidth}).requires_grad_();
  Compressor compressor({.bits = 2});
  compressor.rule("gelu", at::kBFloat16);
  {
    const CompressionScope scope(compressor);
    const at::Tensor y = checkpoint([](const at::Tensor& h) { return at::gelu(h); }, x * 1.0);
    at::mul(y, y);
  }
  for (const Compressor::Site& site : compressor.sites()) {
    EXPECT_NE(site.stored.codec, "cast, bf16") << compressor.report();
  }
}

TEST(CheckpointScope, CheckpointsNestInScopesThatFunctionsOpen) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) { return model->forward(x); };
  Compressor first({.bits = 2, .activation_bits = 8}), second({.bits = 2, .activation_bits = 8});
  const Function inner = checkpointed(inside<CompressionScope>(run, second));
  const Function outer = checkpointed(inside<CompressionScope>(
      [&](const at::Tensor& x) { return inner(at::gelu(inner(x))); }, first));
  const Function exact = [&](const at::Tensor& x) { return run(at::gelu(run(x))); };
  const Tensors expected = value_and_gradients(exact, input(), model->parameters());
  const Tensors found = value_and_gradients(outer, input(), model->parameters());
  EXPECT_LT(distance(flat(found), flat(expected)), 1e-3);
}

TEST(CheckpointScope, BackwardInsideOfAScopeChangesNothing) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) {
    return at::log_softmax(at::silu(model->forward(x)), -1);
  };
  const at::Tensor x = input().requires_grad_() * 1.0;
  const Tensors expected = grad({run(x).pow(2).sum()}, model->parameters());
  const at::Tensor loss = checkpoint(run, x).pow(2).sum();
  Compressor compressor({.bits = 2});
  const CompressionScope scope(compressor);
  expect_equal(grad({loss}, model->parameters()), expected);
  EXPECT_EQ(compressor.sites().size(), 0U);
}

TEST(CheckpointScope, OtherActivationsAreRefused) {
  bool is_first = true;
  const auto run = [&](const at::Tensor& x) {
    return std::exchange(is_first, false) ? at::gelu(x) : at::silu(x);
  };
  const at::Tensor x = hidden({10, 10});
  const ActivationScope scope;
  const at::Tensor y = checkpoint(run, x);
  EXPECT_THAT(error_of([&] { grad({y.sum()}, {x}); }),
              testing::HasSubstr("the function calls aten::silu where the forward had aten::gelu"));
}

// A deep model in few bits at its checkpoints alone.
TEST(CheckpointScope, AChainOfBlocksKeepsCodesOfItsInputs) {
  at::manual_seed(6);
  std::vector<torch::nn::Sequential> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(mlp());
  Compressor compressor({.bits = 4});
  const auto loss_of = [&](bool checks) {
    at::Tensor x = input().requires_grad_() * 1.0;
    for (auto& block : blocks) {
      const auto run = [&block](const at::Tensor& y) { return y + block->forward(y); };
      x = checks ? checkpoint(run, x) : run(x);
    }
    return x.pow(2).mean();
  };
  const at::Tensor exact = flat(grad({loss_of(false)}, blocks[0]->parameters()));
  SavedBytes meter;
  at::Tensor loss;
  {
    const auto watch = meter.watch();
    const CompressionScope scope(compressor);
    loss = loss_of(true);
  }
  EXPECT_LT(distance(flat(grad({loss}, blocks[0]->parameters())), exact), 0.1);
  int64_t coded = 0;
  for (const auto& site : compressor.sites()) coded += site.bytes_after;
  EXPECT_EQ(compressor.sites().size(), 5U) << compressor.report();  // with the loss's input
  EXPECT_LT(meter.unique_bytes(), coded + 1024);
}

}  // namespace fewbit::checkpoint_scope_test
