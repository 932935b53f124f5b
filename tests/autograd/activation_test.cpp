#include "ops/activation.hpp"

#include <functional>
#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::activation_test {

using test::refusal;

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(Gradient, DiffersFromTheTrueDerivativeByTheTablesError) {
  const Table table = Table::builtin("gelu", "levels_uniform_b3");
  at::Tensor x = at::linspace(-10, 10, 200001, at::kDouble).requires_grad_();
  activation(x, table).sum().backward();
  at::Tensor exact = x.detach().clone().requires_grad_();
  at::gelu(exact).sum().backward();
  const double squared = (x.grad() - exact.grad()).square().mean().item<double>() * 20.0;
  EXPECT_NEAR(squared, table.data().error, 2e-3 * table.data().error);
}

TEST(Gradient, OfStepFunctionsIsExact) {
  const at::Tensor x = at::randn({5000}) * 3;
  const auto gradient = [&](const auto& function) {
    at::Tensor input = x.clone().requires_grad_();
    const at::Tensor y = function(input);
    y.backward(at::arange(5000, at::kFloat));
    return std::pair(y.detach(), input.grad());
  };
  const auto expect_same = [&](const auto& ours, const auto& theirs) {
    const auto [y, dx] = gradient(ours);
    const auto [y_exact, dx_exact] = gradient(theirs);
    EXPECT_TRUE(at::allclose(y, y_exact, 1e-6, 1e-7));
    EXPECT_TRUE(at::allclose(dx, dx_exact, 1e-6, 0));
  };
  using at::Tensor;
  expect_same([](const Tensor& t) { return fewbit::relu(t); },
              [](const Tensor& t) { return at::relu(t); });
  expect_same([](const Tensor& t) { return fewbit::relu6(t); },
              [](const Tensor& t) { return at::relu6(t); });
  expect_same([](const Tensor& t) { return leaky_relu(t, 0.2); },
              [](const Tensor& t) { return at::leaky_relu(t, 0.2); });
  expect_same([](const Tensor& t) { return hardtanh(t, -2, 30); },
              [](const Tensor& t) { return at::hardtanh(t, -2, 30); });
  expect_same([](const Tensor& t) { return fewbit::hardsigmoid(t); },
              [](const Tensor& t) { return at::hardsigmoid(t); });
  expect_same([](const Tensor& t) { return hardshrink(t, 0.7); },
              [](const Tensor& t) { return at::hardshrink(t, 0.7); });
  expect_same([](const Tensor& t) { return softshrink(t, 0.7); },
              [](const Tensor& t) { return at::softshrink(t, 0.7); });
  expect_same([](const Tensor& t) { return threshold(t, 0.3, -5); },
              [](const Tensor& t) { return at::threshold(t, 0.3, -5); });
}

TEST(Gradient, FollowsParametersOtherThanTheDefaults) {
  const auto rms = [](const auto& ours, const auto& theirs) {
    at::manual_seed(3);
    at::Tensor x = at::randn({20000}).requires_grad_();
    at::Tensor exact = x.detach().clone().requires_grad_();
    ours(x).sum().backward();
    theirs(exact).sum().backward();
    return (x.grad() - exact.grad()).square().mean().sqrt().template item<double>();
  };
  using at::Tensor;
  EXPECT_LT(rms([](const Tensor& t) { return elu(t, Bits{4}, 0.3); },
                [](const Tensor& t) { return at::elu(t, 0.3); }),
            0.03);
  EXPECT_LT(rms([](const Tensor& t) { return celu(t, Bits{4}, 2.5); },
                [](const Tensor& t) { return at::celu(t, 2.5); }),
            0.03);
  EXPECT_LT(rms([](const Tensor& t) { return softplus(t, Bits{4}, 3.0); },
                [](const Tensor& t) { return at::softplus(t, 3.0); }),
            0.03);
}

TEST(Autograd, KeepsNothingWhereNoGradientIsAskedFor) {
  const at::Tensor plain = at::randn({64});
  EXPECT_FALSE(gelu(plain, Bits{3}).requires_grad());
  const at::Tensor x = at::randn({64}).requires_grad_();
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(gelu(x, Bits{3}).grad_fn());
}

TEST(Autograd, KeepsCodesOnly) {
  const at::Tensor x = at::randn({1 << 16}).requires_grad_();
  const at::Tensor hidden = x * 1.0;
  SavedBytes meter;
  at::Tensor y;
  {
    const auto watch = meter.watch();
    y = gelu(hidden, Bits{3});
  }
  EXPECT_EQ(meter.unique_bytes(), (1 << 16) * 3 / 8);
}

TEST(Autograd, GivesTheSameWhereCodesComeFirst) {
  const Table table = Table::builtin("silu", "levels_normal_b3");
  const at::Tensor data = at::randn({3, 200'003});
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kDouble}) {
    for (const at::Tensor& x : {data.to(type), data.to(type).t(), data.to(type).slice(1, 0, 999)}) {
      const auto results = [&](bool codes_first) {
        const at::Tensor input = x.detach().requires_grad_();
        const at::Tensor y = ops::activation(input, table, {}, {.codes_first = codes_first});
        y.backward(at::ones_like(y));
        return std::pair(y.detach(), input.grad());
      };
      const auto [y, dx] = results(false);
      const auto [y_after, dx_after] = results(true);
      EXPECT_TRUE(at::equal(y, y_after) && at::equal(dx, dx_after)) << type;
    }
  }
}

TEST(Autograd, RefusesDoubleBackwardByName) {
  at::Tensor x = at::randn({16}).requires_grad_();
  const at::Tensor y = gelu(x, Bits{3});
  const at::Tensor dx = torch::autograd::grad({y.sum()}, {x}, {}, true, true)[0];
  const at::Tensor loss = dx.sum();
  for (const auto& differentiate :
       {std::function<void()>([&] { loss.backward(); }),
        std::function<void()>([&] { torch::autograd::grad({loss}, {x}); })}) {
    const std::string text = refusal(differentiate);
    EXPECT_TRUE(contains(text, "fewbit::activation: double backward is not possible")) << text;
  }
}

TEST(Autograd, RefusesForwardModeByName) {
  const uint64_t level = torch::autograd::forward_ad::enter_dual_level();
  const at::Tensor x =
      at::_make_dual(at::randn({16}), at::randn({16}), static_cast<int64_t>(level));
  const std::string text = refusal([&] { gelu(x, Bits{3}); });
  torch::autograd::forward_ad::exit_dual_level(level);
  EXPECT_TRUE(contains(text, "fewbit::activation: forward-mode differentiation")) << text;
}

TEST(Autograd, RefusesAGraphUsedTwice) {
  at::Tensor x = at::randn({16}).requires_grad_();
  const at::Tensor y = gelu(x, Bits{3}).sum();
  y.backward();
  EXPECT_TRUE(contains(refusal([&] { y.backward(); }), "second time"));
}

TEST(Autograd, GivesTheSameGradientsAgainFromARetainedGraph) {
  for (const char* name : {"smoothed_normal_b3", "unbiased_normal_b2"}) {
    at::Tensor x = at::randn({300}).requires_grad_();
    const at::Tensor y = activation(x, Table::builtin("gelu", name)).square().sum();
    const at::Tensor first = torch::autograd::grad({y}, {x}, {}, true)[0];
    EXPECT_TRUE(at::equal(first, torch::autograd::grad({y}, {x}, {}, true)[0])) << name;
    y.backward();
    EXPECT_TRUE(at::equal(first, x.grad())) << name;
  }
}

TEST(Autograd, ReadsNegatedViewsAndZeroGradients) {
  const at::Tensor plain = at::randn({70});
  at::Tensor x = at::_neg_view(plain).requires_grad_();
  at::Tensor again = plain.neg().requires_grad_();
  gelu(x, Bits{3}).backward(at::_neg_view(plain));
  gelu(again, Bits{3}).backward(plain.neg());
  EXPECT_TRUE(at::equal(x.grad(), again.grad()));
  const at::Tensor y = gelu(again, Bits{3});
  const at::Tensor zeros = at::_efficientzerotensor({70}, at::TensorOptions(at::kFloat));
  EXPECT_TRUE(at::equal(torch::autograd::grad({y}, {again}, {zeros})[0], at::zeros({70})));
}

TEST(Autograd, WorksInTenThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<at::Tensor> gradients(10);
  for (size_t i = 0; i < gradients.size(); ++i) {
    threads.emplace_back([&gradients, i] {
      for (int step = 0; step < 20; ++step) {
        at::Tensor x = at::linspace(-4, 4, 5000).requires_grad_();
        silu(x, Bits{3}).sum().backward();
        gradients[i] = x.grad();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const at::Tensor& gradient : gradients) EXPECT_TRUE(at::equal(gradient, gradients[0]));
}

}  // namespace fewbit::activation_test
