// Operations that keep other things than torch's: the same values, the same gradients.
#include "ops/recomputed.hpp"

#include <thread>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "meter/live_bytes.hpp"
#include "ops/layout.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::recomputed_test {

using test::refusal;
using torch::autograd::grad;

struct Heads {
  at::Tensor query, key, value;
};

Heads heads(at::ScalarType type = at::kFloat, int64_t key_heads = 4) {
  at::manual_seed(1);
  const auto options = at::TensorOptions(type);
  return {at::randn({2, 4, 9, 8}, options).requires_grad_(),
          at::randn({2, key_heads, 7, 8}, options).requires_grad_(),
          at::randn({2, key_heads, 7, 8}, options).requires_grad_()};
}

void expect_torchs_gradients(const Heads& x, const ops::AttentionOptions& options, double error) {
  const at::Tensor y = ops::attention(x.query, x.key, x.value, options);
  const at::Tensor torchs = ops::torch_attention(x.query, x.key, x.value, options);
  EXPECT_TRUE(at::allclose(y, torchs, error, error));
  const at::Tensor dy = at::randn_like(y);
  const auto ours = grad({y}, {x.query, x.key, x.value}, {dy});
  const auto exact = grad({torchs}, {x.query, x.key, x.value}, {dy});
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(at::allclose(ours[i], exact[i], error, error)) << i;
}

TEST(Attention, HasTorchsValuesAndGradients) {
  expect_torchs_gradients(heads(), {}, 1e-5);
  expect_torchs_gradients(heads(at::kDouble), {}, 1e-12);
  ops::AttentionOptions options;
  options.is_causal = true;
  expect_torchs_gradients(heads(), options, 1e-5);
  options = {};
  options.scale = 0.1;
  options.mask = at::randn({9, 7});
  expect_torchs_gradients(heads(), options, 1e-5);
  options.mask = at::rand({2, 1, 9, 7}) > 0.3;
  expect_torchs_gradients(heads(), options, 1e-5);
  options = {};
  options.has_groups = true;
  expect_torchs_gradients(heads(at::kFloat, 2), options, 1e-5);
}

TEST(Attention, HasTheTypesOfAutocastAlsoWhereBackwardIsOutsideOfIt) {
  Heads x = heads();
  x.value = x.value.detach().to(at::kBFloat16).requires_grad_();
  ops::AttentionOptions options;
  for (const bool has_mask : {false, true}) {
    if (has_mask) options.mask = at::randn({9, 7});
    at::autocast::set_autocast_enabled(at::kCPU, true);
    const at::Tensor y = ops::attention(x.query, x.key, x.value, options);
    const at::Tensor torchs = ops::torch_attention(x.query, x.key, x.value, options);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
    EXPECT_EQ(y.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(at::equal(y, torchs));
    const at::Tensor dy = at::randn_like(y);
    const auto ours = grad({y}, {x.query, x.key, x.value}, {dy});
    const auto exact = grad({torchs}, {x.query, x.key, x.value}, {dy});
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(ours[i].scalar_type(), exact[i].scalar_type()) << i;
      EXPECT_TRUE(at::allclose(ours[i], exact[i], 0.02, 0.02)) << i;
    }
  }
}

std::vector<at::Tensor> all_of(const Heads& x) {
  return {x.query, x.key, x.value};
}

TEST(Attention, DrawsTheSameDropoutAgain) {
  const Heads x = heads();
  for (const double probability : {0.0, 0.3, 0.9, 1.0}) {
    ops::AttentionOptions options;
    options.dropout = probability;
    at::manual_seed(5);
    const at::Tensor torchs = ops::torch_attention(x.query, x.key, x.value, options);
    const at::Tensor torchs_next = ops::torch_attention(x.key, x.key, x.value, options);
    at::manual_seed(5);
    const at::Tensor y = ops::attention(x.query, x.key, x.value, options);
    const at::Tensor next = ops::attention(x.key, x.key, x.value, options);
    EXPECT_TRUE(at::equal(y, torchs) && at::equal(next, torchs_next));
    at::rand({100});
    const at::Tensor state = at::detail::getDefaultCPUGenerator().get_state();
    const auto ours = grad({y.square().sum() + next.sum()}, all_of(x));
    EXPECT_TRUE(at::equal(at::detail::getDefaultCPUGenerator().get_state(), state));
    const auto exact = grad({torchs.square().sum() + torchs_next.sum()}, all_of(x));
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(at::equal(ours[i], exact[i])) << probability << i;
  }
}

/// What another thread may do at any time, before dropout draws.
std::unique_ptr<at::ObserverContext> draw_as_another(const at::RecordFunction& function) {
  if (std::string_view(function.name()) == "aten::bernoulli_") at::rand({1});
  return nullptr;
}

TEST(Attention, RefusesDropoutOfWhichAnotherHasDrawn) {
  const Heads x = heads();
  ops::AttentionOptions options;
  options.dropout = 0.3;
  const auto run = [&](bool in_forward, bool in_backward) {
    const auto drawing = [](bool is_on, const auto& body) {
      if (!is_on) return body();
      const auto handle = at::addThreadLocalCallback(
          at::RecordFunctionCallback(draw_as_another).scopes({at::RecordScope::FUNCTION}));
      body();
      at::removeCallback(handle);
    };
    at::Tensor y;
    drawing(in_forward, [&] { y = ops::attention(x.query, x.key, x.value, options); });
    std::string said;
    drawing(in_backward, [&] { said = refusal([&] { grad({y.sum()}, all_of(x)); }); });
    return said;
  };
  EXPECT_EQ(run(false, false), "accepted");
  EXPECT_NE(run(true, false).find("another thread drew"), std::string::npos);
  EXPECT_NE(run(false, true).find("another thread drew"), std::string::npos);
}

// The output is linear in the values, so that the gradient shows which numbers backward drew.
TEST(Attention, DrawsItsOwnDropoutAgainInEveryThread) {
  const Heads x = heads(at::kDouble);
  const auto run = [&] {
    ops::AttentionOptions options;
    options.dropout = 0.5;
    for (int i = 0; i < 50; ++i) {
      const at::Tensor y = ops::attention(x.query, x.key, x.value, options);
      const at::Tensor dv = grad({y.square().sum()}, {x.value})[0];
      const double squares = y.square().sum().item<double>();
      EXPECT_NEAR((dv * x.value).sum().item<double>(), 2.0 * squares, 1e-9 * squares);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) threads.emplace_back(run);
  for (std::thread& thread : threads) thread.join();
}

/// Masks as models have them, by name.
std::vector<std::pair<const char*, at::Tensor>> masks() {
  at::manual_seed(2);
  return {{"of numbers", at::randn({9, 7})},
          {"of bool", at::rand({9, 7}) > 0.3},
          {"of padding", (at::rand({2, 1, 1, 7}) > 0.3).expand({2, 4, 9, 7})},
          {"of numbers, expanded", at::randn({2, 1, 1, 7}).expand({2, 4, 9, 7})},
          {"of bool, transposed", (at::rand({7, 9}) > 0.3).t()},
          {"of numbers, a part", at::randn({20, 20}).narrow(0, 3, 9).narrow(1, 2, 7)}};
}

TEST(Attention, UsesTheMaskAsItWasInForward) {
  const Heads x = heads();
  for (const bool is_in_place : {true, false}) {
    for (const double dropout : {0.0, 0.3}) {
      for (const auto& [name, mask] : masks()) {
        ops::AttentionOptions options;
        options.dropout = dropout;
        options.mask = mask;
        at::manual_seed(3);
        const at::Tensor torchs = ops::torch_attention(x.query, x.key, x.value, options);
        const auto exact = grad({torchs.square().sum()}, all_of(x));
        at::manual_seed(3);
        const at::Tensor y = ops::attention(x.query, x.key, x.value, options);
        const at::Tensor elements = ops::unexpanded(mask);  // shares its version
        const at::Tensor changed = is_in_place ? elements : at::Tensor(elements.data());
        changed.copy_(elements.logical_not());
        const auto ours = grad({y.square().sum()}, all_of(x));
        for (size_t i = 0; i < 3; ++i) {
          EXPECT_TRUE(at::allclose(ours[i], exact[i], 1e-5, 1e-5)) << name << ", " << dropout << i;
        }
      }
    }
  }
}

TEST(Attention, KeepsABitOfTrueAndFalseAndWhatIsExpandedOnce) {
  const at::Tensor x = at::randn({2, 4, 64, 8}).requires_grad_();
  const auto kept = [&](const at::Tensor& mask) {
    ops::AttentionOptions options;
    options.mask = mask;
    at::Tensor y;
    const session::LiveBytes live("test", at::kCPU);
    y = ops::attention(x, x, x, options);
    return live.now() - static_cast<int64_t>(y.nbytes());
  };
  EXPECT_EQ(kept({}), 0);
  EXPECT_EQ(kept(at::rand({64, 64}) > 0.3), 64 * 64 / 8);
  EXPECT_EQ(kept((at::rand({2, 1, 64, 64}) > 0.3).expand({2, 4, 64, 64})), 2 * 64 * 64 / 8);
  EXPECT_EQ(kept(at::randn({64, 64})), 64 * 64 * 4);
  EXPECT_EQ(kept(at::randn({2, 1, 1, 64}).expand({2, 4, 64, 64})), 2 * 64 * 4);
}

TEST(Attention, GivesGradientsToThoseThatAsk) {
  Heads x = heads();
  x.key = x.key.detach();
  const at::Tensor y = ops::attention(x.query, x.key, x.value, {});
  const at::Tensor torchs = ops::torch_attention(x.query, x.key, x.value, {});
  EXPECT_TRUE(
      at::allclose(grad({y.sum()}, {x.query})[0], grad({torchs.sum()}, {x.query})[0], 1e-5, 1e-5));
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(ops::attention(x.query, x.key, x.value, {}).requires_grad());
}

TEST(Attention, RefusesWhatItCannotGive) {
  const Heads x = heads();
  ops::AttentionOptions options;
  options.mask = at::zeros({9, 7}).requires_grad_();
  EXPECT_EQ(refusal([&] { ops::attention(x.query, x.key, x.value, options); }),
            "fewbit::attention: attn_mask asks for a gradient, which it gets from torch's own "
            "attention alone");
  const at::Tensor y = ops::attention(x.query, x.key, x.value, {});
  const at::Tensor dq = grad({y.sum()}, {x.query}, {}, true, true)[0];
  EXPECT_EQ(refusal([&] { grad({dq.sum()}, {x.query}); }),
            "fewbit::attention: double backward is not possible; use torch's own there");
}

TEST(LogSoftmax, HasTorchsValuesAndGradients) {
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    for (const int64_t dim : {0, 1, -1}) {
      const at::Tensor x = (3.0 * at::randn({5, 6, 7})).to(type).requires_grad_();
      const at::Tensor y = ops::log_softmax(x, dim, false);
      const at::Tensor torchs = at::log_softmax(x, dim);
      EXPECT_TRUE(at::equal(y, torchs));
      const at::Tensor dy = at::randn({5, 6, 7}).to(type);
      const double error = type == at::kBFloat16 ? 0.03 : 1e-5;
      EXPECT_TRUE(
          at::allclose(grad({y}, {x}, {dy})[0], grad({torchs}, {x}, {dy})[0], error, error));
    }
  }
}

TEST(LogSoftmax, RefusesDoubleBackward) {
  const at::Tensor x = at::randn({5, 6}).requires_grad_();
  const at::Tensor dx =
      grad({ops::log_softmax(x, 1, false).square().sum()}, {x}, {}, true, true)[0];
  EXPECT_EQ(refusal([&] { grad({dx.sum()}, {x}); }),
            "fewbit::log_softmax: double backward is not possible; use torch's own there");
}

}  // namespace fewbit::recomputed_test
