// Functions that backward runs again: values, gradients, what is kept and how often they run.
#include "fewbit/checkpoint.hpp"

#include <stdexcept>

#include <ATen/autocast_mode.h>
#include <torch/jit.h>
#include <torch/nn/functional/dropout.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/transformerlayer.h>

#include "fewbit/saved_bytes.hpp"
#include "ops/random_states.hpp"
#include "tests/support/autograd_node.hpp"
#include "tests/support/checkpoint_model.hpp"
#include "tests/support/compression_model.hpp"

namespace fewbit::checkpoint_test {

using namespace test;
using torch::autograd::grad;

TEST(Checkpoint, AnMlpHasItsGradients) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) { return model->forward(x); };
  expect_same_gradients(run, input(), model->parameters());
}

TEST(Checkpoint, TakesAModuleAsAFunction) {
  torch::nn::Linear layer(kWidth, 3);
  const at::Tensor x = hidden({5, kWidth});
  const at::Tensor y = checkpoint(layer, x);
  EXPECT_TRUE(at::equal(y, layer(x)));
  EXPECT_TRUE(
      at::equal(grad({y.sum()}, {layer->weight})[0], grad({layer(x).sum()}, {layer->weight})[0]));
}

// As in Python's checkpoints, running statistics move once more.
TEST(Checkpoint, AConvolutionAndABatchNormHaveTheirGradients) {
  at::manual_seed(3);
  const torch::nn::BatchNorm2d norm(8);
  torch::nn::Sequential model(torch::nn::Conv2d(3, 8, 3), norm, torch::nn::ReLU(),
                              torch::nn::Conv2d(8, 4, 3));
  const auto run = [&](const at::Tensor& x) { return model->forward(x); };
  expect_same_gradients(run, at::randn({4, 3, 8, 8}), model->parameters());
  EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), 1 + 2);
}

TEST(Checkpoint, DrawsTheSameNumbersAgain) {
  at::manual_seed(4);
  torch::nn::TransformerEncoderLayer layer(
      torch::nn::TransformerEncoderLayerOptions(32, 4).dim_feedforward(64).dropout(0.3));
  const auto run = [&](const at::Tensor& x) { return layer->forward(x); };
  const at::Tensor x = at::randn({6, 5, 32});
  expect_same_gradients(run, x, layer->parameters());
  at::manual_seed(5);
  value_and_gradients(run, x, {});
  const at::Tensor next = at::rand({10});
  at::manual_seed(5);
  value_and_gradients(checkpointed(run), x, {});
  EXPECT_TRUE(at::equal(at::rand({10}), next));
}

TEST(Checkpoint, DrawsOfOthersBetweenForwardAndBackwardHarmNothing) {
  const auto run = [](const at::Tensor& x) {
    return torch::nn::functional::dropout(x, torch::nn::functional::DropoutFuncOptions().p(0.5));
  };
  const at::Tensor x = hidden({100});
  const at::Tensor y = checkpoint(run, x);
  at::rand({7});
  EXPECT_TRUE(at::equal(grad({y.sum()}, {x})[0] == 0, y == 0));
}

TEST(Checkpoint, StatesAreKeptOfGeneratorsThatMoved) {
  const Tensors tensors = {hidden({2})};
  ops::RandomStates states(tensors);
  at::rand({2});
  ops::RandomStates others(tensors);
  states.forget_unmoved();
  others.forget_unmoved();
  EXPECT_FALSE(states.empty());
  EXPECT_TRUE(others.empty());
}

TEST(Checkpoint, RunsUnderAutocastAsItDid) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    const at::Tensor y = model->forward(x);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
    return y;
  };
  const Tensors expected = value_and_gradients(run, input(), model->parameters());
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const at::Tensor leaf = input().requires_grad_();
  const at::Tensor y = checkpoint([&](const at::Tensor& x) { return model->forward(x); }, leaf * 1);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(at::kCPU, at::kHalf);
  Tensors asked = {leaf};
  for (const at::Tensor& parameter : model->parameters()) asked.push_back(parameter);
  Tensors found = grad({y.to(at::kFloat).pow(2).sum()}, asked);
  found.insert(found.begin(), y.detach());
  expect_equal(found, expected);
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kHalf);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  // No cast of the weights is left behind.
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : model->parameters()) parameter.mul_(0.5);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const at::Tensor next = model->forward(input());
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  EXPECT_TRUE(at::equal(next, run(input())));
}

TEST(Checkpoint, Nests) {
  auto model = mlp();
  int inner_runs = 0, outer_runs = 0;
  const Function inner = [&](const at::Tensor& x) {
    ++inner_runs;
    return model->forward(x).exp();
  };
  const Function outer = [&](const at::Tensor& x) {
    ++outer_runs;
    return checkpoint(inner, x.sin()).tanh();
  };
  const auto plain = [&](const at::Tensor& x) { return model->forward(x.sin()).exp().tanh(); };
  const Tensors expected = value_and_gradients(plain, input(), model->parameters());
  expect_equal(value_and_gradients(checkpointed(outer), input(), model->parameters()), expected);
  EXPECT_EQ(outer_runs, 2);
  EXPECT_EQ(inner_runs, 3);
}

TEST(Checkpoint, TakesAndGivesSeveralTensors) {
  const at::Tensor x = hidden({4, 6}), y = hidden({4, 6});
  const at::Tensor places = at::arange(4);
  const auto run = [](const Tensors& in) {
    EXPECT_FALSE(in[3].defined());
    return Tensors{(in[0] * in[1]).index_select(0, in[2]).exp(), in[1].sin(), in[2]};
  };
  const auto loss = [](const Tensors& out) {
    return (out[0] * out[0]).sum() + (out[1] * out[1]).sum();
  };
  const Tensors inputs = {x, y, places, at::Tensor()};
  const Tensors out = checkpoint_list(run, inputs);
  EXPECT_TRUE(at::equal(out[2], places));
  expect_equal(grad({loss(out)}, {x, y}), grad({loss(run(inputs))}, {x, y}));

  const auto product = [](const at::Tensor& a, const at::Tensor& b) { return (a * b).exp(); };
  expect_equal(grad({checkpoint(product, x, y).sum()}, {x, y}),
               grad({product(x, y).sum()}, {x, y}));
}

TEST(Checkpoint, GradientsReachWhatTheFunctionHolds) {
  const at::Tensor x = hidden({4, 6}), held = hidden({4, 6});
  const auto run = [&](const at::Tensor& given) { return (given * held).exp(); };
  expect_equal(grad({checkpoint(run, x).sum()}, {x, held}), grad({run(x).sum()}, {x, held}));
}

// As an embedding's that is normed where it is looked up.
TEST(Checkpoint, TheFunctionMayChangeItsParameters) {
  at::Tensor weight = at::randn({8, 4}).requires_grad_();
  const at::Tensor places = at::arange(3);
  const auto run = [&](const at::Tensor& x) {
    {
      const at::NoGradGuard no_grad;
      at::embedding_renorm_(weight, places, 0.5, 2.0);
    }
    return (at::embedding(weight, places) * x).exp();
  };
  const at::Tensor x = hidden({3, 4});
  const Tensors expected = grad({run(x).sum()}, {x, weight});
  const at::Tensor loss = checkpoint(run, x).sum();
  for (int walk = 0; walk < 2; ++walk) expect_equal(grad({loss}, {x, weight}, {}, true), expected);
}

// An input may be the batch, a leaf that asks for a gradient, a parameter, a view or a cast of one.
TEST(Checkpoint, TakesEveryKindOfInput) {
  const at::Tensor weight = at::randn({6, 6}).requires_grad_();
  const auto run = [&](const at::Tensor& x) {
    return at::mm(x.t().t(), weight.to(x.scalar_type()).t()).exp() * x;
  };
  const Tensors inputs = {at::randn({6, 6}),
                          at::randn({6, 6}).requires_grad_(),
                          weight,
                          weight.t(),
                          weight.to(at::kDouble),
                          hidden({12, 6})[0].expand({6, 6}),
                          hidden({12, 6}).slice(0, 3, 9)};
  for (size_t i = 0; i < inputs.size(); ++i) {
    SCOPED_TRACE(i);
    expect_equal(grad({checkpoint(run, inputs[i]).sum()}, {weight}),
                 grad({run(inputs[i]).sum()}, {weight}));
  }
}

TEST(Checkpoint, RunsTwiceAndStopsBehindTheLastTensorThatIsSaved) {
  auto model = mlp();
  int runs = 0, ends = 0;
  const auto run = [&](const at::Tensor& x) {
    ++runs;
    at::Tensor y = model->forward(x).exp();
    y = y + 1.0;  // keeps nothing
    ++ends;
    return y;
  };
  value_and_gradients(checkpointed(run), input(), model->parameters());
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(ends, 1);
}

TEST(Checkpoint, StopsWhereNothingFurtherIsAskedFor) {
  int ends = 0;
  const auto run = [&](const Tensors& in) {
    Tensors out = {in[0].exp()};
    out.push_back(out[0].tan());
    ++ends;
    out.push_back(out[1].exp());
    return out;
  };
  const at::Tensor x = hidden({3, 4});
  Tensors y = checkpoint_list(run, {x});
  y.pop_back();
  expect_equal(grad({y[0].sum()}, {x}), {y[0]});
  EXPECT_EQ(ends, 1);
}

TEST(Checkpoint, KeepsTheInputOfAllThatItsFunctionSaves) {
  auto model = mlp();
  const at::Tensor x = hidden({100, kWidth});
  SavedBytes meter;
  at::Tensor y;
  {
    const auto watch = meter.watch();
    y = checkpoint([&](const at::Tensor& given) { return model->forward(given); }, x);
  }
  EXPECT_EQ(meter.unique_bytes(), static_cast<int64_t>(x.nbytes()));
  for (const SavedTensor& saved : meter.entries()) {
    if (saved.parameter) continue;
    EXPECT_EQ(saved.operation, "fewbit::checkpoint");
    EXPECT_EQ(saved.maker, "CloneBackward0");
    EXPECT_FALSE(saved.is_output);
  }
}

TEST(Checkpoint, AStepKeepsOneFunctionsTensorsAtATime) {
  auto model = mlp();
  const Function run = [&](const at::Tensor& x) { return x + model->forward(x).exp(); };
  const auto most = [&](const Function& function) {
    at::Tensor x = hidden({100, kWidth});
    SavedBytes meter;
    const auto watch = meter.watch();
    for (int i = 0; i < 16; ++i) x = function(x);
    x.sum().backward();
    return meter.unique_bytes();
  };
  const int64_t input_bytes = 100 * kWidth * 4;
  const int64_t plain = most(run);
  EXPECT_LT(most(checkpointed(run)), 16 * input_bytes + plain / 16 + input_bytes);
}

// Graphs are let go without recursion, however long.
TEST(Checkpoint, ALongChainEnds) {
  at::Tensor x = hidden({1});
  for (int i = 0; i < 20000; ++i) {
    x = checkpoint([](const at::Tensor& y) { return y.sin(); }, x);
  }
  const at::Tensor y = x.exp();
  x.reset();
}

TEST(Checkpoint, AGraphMayBeWalkedTwice) {
  auto model = mlp();
  int runs = 0;
  const auto run = [&](const at::Tensor& x) {
    ++runs;
    return model->forward(x).exp();
  };
  const at::Tensor x = hidden({100, kWidth});
  const at::Tensor loss = checkpoint(run, x).pow(2).sum();
  const auto walk = [&](bool retain) { return grad({loss}, model->parameters(), {}, retain); };
  const Tensors first = walk(true);
  EXPECT_EQ(runs, 2);
  // Of a part of the graph: what it does not ask for is let go.
  grad({loss}, {model->parameters().back()}, {}, true);
  EXPECT_EQ(runs, 3);
  expect_equal(walk(true), first);
  EXPECT_EQ(runs, 4);
  expect_equal(walk(false), first);
  EXPECT_EQ(runs, 5);
  EXPECT_THROW(walk(false), c10::Error);  // freed, as without
}

TEST(Checkpoint, SecondDerivativesAreThoseOfAPlainCall) {
  const at::Tensor weight = at::randn({6, 6}).requires_grad_();
  const auto run = [&](const at::Tensor& x) { return at::mm(x.sin(), weight).exp(); };
  const at::Tensor x = hidden({3, 6});
  const auto second = [&](const Function& function) {
    const at::Tensor first = grad({function(x).sum()}, {x}, {}, true, /*create_graph=*/true)[0];
    return grad({first.pow(2).sum()}, {x, weight});
  };
  expect_equal(second(checkpointed(run)), second(run));
}

TEST(Checkpoint, TheFunctionMayRunBackwardItself) {
  const at::Tensor weight = at::randn({6, 6}).requires_grad_();
  int runs = 0;
  const auto penalty = [&](const at::Tensor& x) {
    ++runs;
    const at::Tensor y = at::mm(x.sin(), weight).exp();
    return grad({y.sum()}, {x}, {}, true, /*create_graph=*/true)[0].pow(2) * y.mean();
  };
  const at::Tensor x = hidden({3, 6});
  const Tensors expected = grad({penalty(x).sum()}, {x, weight});
  runs = 0;
  expect_equal(grad({checkpoint(penalty, x).sum()}, {x, weight}), expected);
  EXPECT_EQ(runs, 3);  // in the forward, for the gradient there, for the one here
}

TEST(Checkpoint, TorchScriptStopsToo) {
  const auto unit = torch::jit::compile(
      "def f(x, w):\n    y = torch.mm(torch.sin(x), w)\n    return torch.exp(y) * torch.tanh(x)\n");
  const at::Tensor weight = at::randn({6, 6}).requires_grad_();
  int ends = 0;
  const auto run = [&](const at::Tensor& x) {
    const at::Tensor y = unit->run_method("f", x, weight).toTensor();
    ++ends;
    return y;
  };
  const at::Tensor x = at::randn({6, 6});
  value_and_gradients(run, x, {weight});  // from here on it would be optimised
  const Tensors expected = value_and_gradients(
      [&](const at::Tensor& z) { return at::mm(z.sin(), weight).exp() * z.tanh(); }, x, {weight});
  for (int repetition = 0; repetition < 4; ++repetition) {
    const Tensors found = value_and_gradients(checkpointed(run), x, {weight});
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(at::allclose(found[i], expected[i])) << i;
  }
  EXPECT_EQ(ends, 1 + 4);
}

TEST(Checkpoint, WithoutGradientsItIsAPlainCall) {
  std::weak_ptr<int> seen;
  {
    const auto token = std::make_shared<int>(1);
    seen = token;
    const auto run = [token](const at::Tensor& x) { return x.exp(); };
    const at::Tensor x = hidden({3});
    {
      const at::NoGradGuard no_grad;
      EXPECT_FALSE(checkpoint(run, x).requires_grad());
    }
    EXPECT_FALSE(checkpoint(run, x.detach()).requires_grad());
  }
  EXPECT_TRUE(seen.expired());
}

}  // namespace fewbit::checkpoint_test
