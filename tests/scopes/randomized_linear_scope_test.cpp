// Linear layers of unchanged models in a RandomizedLinearScope, alone and among other scopes.
#include <ATen/autocast_mode.h>
#include <torch/jit.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/transformerlayer.h>

#include "fewbit/activation_scope.hpp"
#include "fewbit/randomized_linear.hpp"
#include "fewbit/saved_bytes.hpp"
#include "tests/support/autograd_node.hpp"
#include "tests/support/checkpoint_model.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::randomized_linear_scope_test {

using namespace test;
using torch::autograd::grad;
using Entry = RandomizedLinearScope::Entry;

constexpr const char* kNode = "RandomizedLinear";

bool is_randomized(const at::Tensor& y) {
  return node_of(y).find(kNode) != std::string::npos;
}

/// The gradients of x and of all parameters.
Tensors all_gradients(torch::nn::Sequential& model, const at::Tensor& leaf, const at::Tensor& y) {
  Tensors asked = {leaf};
  for (const at::Tensor& parameter : model->parameters()) asked.push_back(parameter);
  return grad({y.square().sum()}, asked);
}

TEST(RandomizedLinearScope, TakesLayersOfAnUnchangedModel) {
  auto model = mlp();
  const at::Tensor leaf = input().requires_grad_();
  const at::Tensor exact = model->forward(leaf * 1.0);
  at::Tensor y;
  {
    RandomizedLinearScope scope({.keep = 0.1});
    scope.name(model->named_parameters());
    y = model->forward(leaf * 1.0);
    const std::vector<Entry> entries = scope.entries();
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].layer, "0.weight");
    EXPECT_EQ(entries[0].outcome, "rademacher");
    EXPECT_TRUE(entries[0].taken);
    EXPECT_EQ(entries[0].calls, 1);
    EXPECT_EQ(entries[0].rows, 100);
    EXPECT_EQ(entries[0].kept, 10);
    EXPECT_EQ(entries[1].layer, "3.weight");
    EXPECT_EQ(scope.report(),
              "layer     calls  rows  kept  outcome\n"
              "0.weight      1   100    10  projected: rademacher\n"
              "3.weight      1   100    10  projected: rademacher\n");
  }
  EXPECT_TRUE(at::equal(y, exact));
  EXPECT_TRUE(is_randomized(y));
  const Tensors found = all_gradients(model, leaf, y), expected = all_gradients(model, leaf, exact);
  const auto names = model->named_parameters().keys();
  ASSERT_EQ(found.size(), names.size() + 1);
  EXPECT_TRUE(at::equal(found[0], expected[0]));
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_estimate = names[i] == "0.weight" || names[i] == "3.weight";
    EXPECT_EQ(at::equal(found[i + 1], expected[i + 1]), !is_estimate) << names[i];
  }
  EXPECT_FALSE(is_randomized(model->forward(leaf * 1.0)));
}

TEST(RandomizedLinearScope, TakesEveryFormOfALayer) {
  torch::nn::Linear layer(8, 5), plain(torch::nn::LinearOptions(8, 5).bias(false));
  const at::Tensor w = plain->weight;
  // Once compiled and run outside, torch would run it in an optimised form.
  const auto script = [](const at::Tensor& x, const at::Tensor& weight) {
    const auto unit = torch::jit::compile("def f(x, w):\n    return torch.matmul(x, w.t())\n");
    return unit->run_method("f", x, weight).toTensor();
  };
  const std::vector<Function> forms = {
      [&](const at::Tensor& x) { return at::Tensor(layer->forward(x)); },
      [&](const at::Tensor& x) { return at::Tensor(plain->forward(x)); },
      [&](const at::Tensor& x) { return at::linear(x, w, layer->bias); },
      [&](const at::Tensor& x) { return at::linear(x, w * 2.0); },
      [&](const at::Tensor& x) { return at::matmul(x, w.t()); },
      [&](const at::Tensor& x) { return script(x, w); }};
  for (size_t i = 0; i < forms.size(); ++i) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{40, 8}, {5, 8, 8}}) {
      SCOPED_TRACE(testing::Message() << "form " << i << ", " << shape.size() << " dimensions");
      const at::Tensor x = hidden(shape), exact = forms[i](x);
      RandomizedLinearScope scope;
      const at::Tensor y = forms[i](x);
      EXPECT_TRUE(at::equal(y, exact));
      ASSERT_EQ(scope.entries().size(), 1U);
      EXPECT_TRUE(scope.entries()[0].taken);
      EXPECT_EQ(scope.entries()[0].layer, "[5, 8]");
      EXPECT_EQ(scope.entries()[0].kept, 8);
      const at::Tensor dy = at::randn_like(y);
      EXPECT_TRUE(at::equal(grad({y}, {x}, {dy}, true)[0], grad({exact}, {x}, {dy}, true)[0]));
      EXPECT_FALSE(at::equal(grad({y}, {layer->weight, w}, {dy}, true, false, true)[i > 0],
                             grad({exact}, {layer->weight, w}, {dy}, true, false, true)[i > 0]));
    }
  }
}

/// Why the only call was left alone; "taken" where it was not.
template <class Run>
std::string outcome(const Run& run) {
  RandomizedLinearScope scope;
  const at::Tensor y = run();
  EXPECT_FALSE(y.defined() && is_randomized(y));
  const std::vector<Entry> entries = scope.entries();
  if (entries.size() != 1) return std::to_string(entries.size()) + " calls";
  return entries[0].taken ? "taken" : entries[0].outcome;
}

TEST(RandomizedLinearScope, LeavesAloneWhatHasNothingToGain) {
  torch::nn::Linear layer(8, 5);
  const at::Tensor x = hidden({40, 8}), data = at::randn({40, 8});
  EXPECT_EQ(outcome([&] { return layer(data); }),
            "its input gets no gradient: the program holds it");
  EXPECT_EQ(outcome([&] { return layer(x.slice(0, 0, 1)); }), "no more rows than would be kept");
  EXPECT_EQ(outcome([&] { return at::linear(x, layer->weight.detach()); }),
            "keeps no input: its weight is frozen");
  EXPECT_EQ(outcome([&] {
              const at::NoGradGuard no_grad;
              return layer(x);
            }),
            "keeps nothing: no gradient asked");
  // Products that are no layer.
  EXPECT_EQ(outcome([&] { return at::mm(x, hidden({8, 5})); }), "0 calls");
  EXPECT_EQ(outcome([&] { return at::matmul(x, layer->weight[0]); }), "0 calls");
  EXPECT_EQ(outcome([&] { return at::addmm(layer->bias, x, layer->weight.t(), 2.0); }), "0 calls");
  EXPECT_EQ(outcome([&] { return at::addmm(hidden({40, 5}), x, layer->weight.t()); }), "0 calls");
}

TEST(RandomizedLinearScope, RefusesOtherShares) {
  EXPECT_EQ(refusal([] { RandomizedLinearScope({.keep = 0.0}); }),
            "fewbit::RandomizedLinearScope: keep is 0, accepted: above 0, at most 1");
  torch::nn::Linear layer(8, 5);
  EXPECT_FALSE(is_randomized(layer(hidden({40, 8}))));  // nothing was left open
}

int64_t bytes_kept(const std::function<at::Tensor()>& forward) {
  SavedBytes meter;
  const auto watch = meter.watch();
  const at::Tensor y = forward();
  return meter.unique_bytes();
}

TEST(RandomizedLinearScope, KeepsAShareOfTheInput) {
  torch::nn::Linear layer(64, 32);
  const at::Tensor x = hidden({10, 20, 64});
  EXPECT_EQ(bytes_kept([&] { return layer(x); }), 200 * 64 * 4);
  const RandomizedLinearScope scope({.keep = 0.1});
  EXPECT_EQ(bytes_kept([&] { return layer(x); }), 20 * 64 * 4 + 8);
}

TEST(RandomizedLinearScope, TakesATransformersLayers) {
  at::manual_seed(4);
  torch::nn::TransformerEncoderLayer layer(
      torch::nn::TransformerEncoderLayerOptions(32, 4).dim_feedforward(64).dropout(0.3));
  RandomizedLinearScope scope;
  scope.name(layer->named_parameters());
  const at::Tensor y = layer(hidden({6, 5, 32}));
  std::vector<std::string> taken;
  for (const Entry& entry : scope.entries()) {
    if (entry.taken) taken.push_back(entry.layer);
  }
  EXPECT_EQ(taken,
            std::vector<std::string>({"self_attn.in_proj_weight", "self_attn.out_proj.weight",
                                      "linear1.weight", "linear2.weight"}));
  y.square().sum().backward();
  for (const at::Tensor& parameter : layer->parameters()) EXPECT_TRUE(parameter.grad().defined());
}

TEST(RandomizedLinearScope, RunsUnderAutocast) {
  torch::nn::Linear layer(8, 5);
  const at::Tensor x = hidden({40, 8});
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const at::Tensor exact = layer(x);
  at::Tensor y;
  {
    const RandomizedLinearScope scope;
    y = layer(x);
  }
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  EXPECT_TRUE(is_randomized(y));
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::equal(y, exact));
  EXPECT_EQ(grad({y.sum()}, {layer->weight})[0].scalar_type(), at::kFloat);
}

TEST(RandomizedLinearScope, ACheckpointDrawsTheSame) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) {
    const RandomizedLinearScope scope;
    return model->forward(x);
  };
  expect_same_gradients(run, input(), model->parameters());
  // With the scope around it, which is gone when the function runs again.
  const auto plain = [&](const at::Tensor& x) { return model->forward(x); };
  const auto around = [&](const at::Tensor& x) {
    const RandomizedLinearScope scope;
    return checkpoint(plain, x);
  };
  at::manual_seed(11);
  const Tensors expected = value_and_gradients(run, input(), model->parameters());
  at::manual_seed(11);
  expect_equal(value_and_gradients(around, input(), model->parameters()), expected);
}

TEST(RandomizedLinearScope, NestsWithActivations) {
  auto model = mlp();
  const at::Tensor x = hidden({100, kWidth});
  const auto both = [&](RandomizedLinearScope& linear, ActivationScope& activations) {
    linear.name(model->named_parameters());
    const at::Tensor y = model->forward(x);
    ASSERT_EQ(linear.entries().size(), 2U);
    EXPECT_TRUE(linear.entries()[0].taken && linear.entries()[1].taken);
    ASSERT_EQ(activations.entries().size(), 1U);
    EXPECT_TRUE(activations.entries()[0].replaced);
  };
  {
    RandomizedLinearScope linear;
    ActivationScope activations;
    both(linear, activations);
  }
  ActivationScope activations;
  RandomizedLinearScope linear;
  both(linear, activations);
}

// What is projected is coded no more, all else is.
TEST(RandomizedLinearScope, NestsWithCompression) {
  auto model = mlp();
  const at::Tensor x = hidden({100, kWidth});
  for (const bool is_inside : {false, true}) {
    SCOPED_TRACE(is_inside);
    Compressor compressor({.bits = 2});
    std::optional<RandomizedLinearScope> linear;
    std::optional<CompressionScope> compression;
    if (!is_inside) linear.emplace();
    compression.emplace(compressor);
    if (is_inside) linear.emplace();
    linear->name(model->named_parameters());
    const at::Tensor y = model->forward(x);
    ASSERT_EQ(linear->entries().size(), 2U);
    EXPECT_TRUE(linear->entries()[0].taken && linear->entries()[1].taken);
    ASSERT_EQ(coded_sites(compressor).size(), 1U);
    EXPECT_EQ(coded_sites(compressor)[0].operation, "aten::native_layer_norm");
    linear.reset();
    compression.reset();
    EXPECT_TRUE(y.sum().grad_fn());
    for (const at::Tensor& g : grad({y.sum()}, model->parameters())) EXPECT_TRUE(g.defined());
  }
}

TEST(RandomizedLinearScope, TheInnermostCounts) {
  torch::nn::Linear layer(8, 5);
  const at::Tensor x = hidden({40, 8});
  RandomizedLinearScope outer({.keep = 0.5});
  const RandomizedLinearScope inner({.keep = 0.1, .projection = Projection::rows});
  EXPECT_TRUE(is_randomized(layer(x)));
  EXPECT_EQ(inner.entries().size(), 1U);
  EXPECT_EQ(inner.entries()[0].kept, 4);
  EXPECT_EQ(inner.entries()[0].outcome, "rows");
  EXPECT_TRUE(outer.entries().empty());
}

TEST(RandomizedLinearScope, CallsWithinBackwardAreLeftAlone) {
  torch::nn::Linear layer(8, 5);
  const at::Tensor x = hidden({40, 8});
  RandomizedLinearScope scope;
  at::Tensor within;
  const at::Tensor y = x * 1.0;
  y.register_hook([&](const at::Tensor& dy) {
    const at::AutoGradMode graph(true);
    within = layer->forward(dy.detach().requires_grad_());
  });
  y.sum().backward();
  EXPECT_FALSE(is_randomized(within));
}

}  // namespace fewbit::randomized_linear_scope_test
