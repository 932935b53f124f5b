// What an activation gives back lies in memory as it does outside of a scope.
#include <algorithm>
#include <string_view>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/autograd_node.hpp"

namespace fewbit::scope_layout_test {

using test::is_few_bit;

struct Named {
  const char* name;
  at::Tensor (*function)(const at::Tensor&);
};

const Named kFunctions[] = {
    {"celu", [](const at::Tensor& x) { return at::celu(x, 1.5); }},
    {"elu", [](const at::Tensor& x) { return at::elu(x); }},
    {"gelu", [](const at::Tensor& x) { return at::gelu(x); }},
    {"gelu_tanh", [](const at::Tensor& x) { return at::gelu(x, "tanh"); }},
    {"hardshrink", [](const at::Tensor& x) { return at::hardshrink(x); }},
    {"hardsigmoid", at::hardsigmoid},
    {"hardswish", at::hardswish},
    {"hardtanh", [](const at::Tensor& x) { return at::hardtanh(x); }},
    {"leaky_relu", [](const at::Tensor& x) { return at::leaky_relu(x); }},
    {"log_sigmoid", at::log_sigmoid},
    {"mish", at::mish},
    {"relu", at::relu},
    {"relu6", at::relu6},
    {"selu", at::selu},
    {"sigmoid", at::sigmoid},
    {"silu", at::silu},
    {"softplus", [](const at::Tensor& x) { return at::softplus(x); }},
    {"softshrink", [](const at::Tensor& x) { return at::softshrink(x); }},
    {"tanh", at::tanh},
    {"threshold", [](const at::Tensor& x) { return at::threshold(x, 0.5, 0.25); }},
};

at::Tensor images(at::MemoryFormat format = at::MemoryFormat::ChannelsLast) {
  return at::randn({2, 6, 4, 4}).contiguous(format);
}

/// Dense and not, overlapping, of strides that say nothing (size 1), empty, of no dimension.
std::vector<at::Tensor> layouts() {
  return {
      at::randn({}),
      at::randn({0, 3}),
      at::randn({6, 4}),
      at::randn({6, 4}).t(),
      images(),
      at::randn({2, 3, 2, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast3d),
      images().chunk(2, 1)[0],
      images(at::MemoryFormat::Contiguous).chunk(2, 1)[1],
      images().slice(3, 0, 4, 2),
      at::randn({5, 8}).chunk(2, 1)[0],
      at::randn({5, 8}).chunk(2, 1)[1].t(),
      at::randn({3, 4, 5}).permute({2, 0, 1}),
      at::randn({3, 8, 5}).slice(1, 0, 8, 2).permute({2, 0, 1}),
      at::randn({1, 4}).expand({3, 4}),
      at::randn({3, 1}).expand({3, 4}),
      at::randn({1}).expand({2, 3, 4}),
      at::randn({10}).as_strided({3, 4}, {1, 2}),
      at::randn({4, 1, 3}).as_strided({4, 1, 3}, {3, 100, 1}),
      at::randn({2, 1, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast),
      at::randn({24}).as_strided({1, 6, 2, 2}, {7, 1, 12, 6}),
      at::randn({24}).as_strided({2, 6, 1, 1}, {6, 1, 5, 5}),
      at::randn({48}).as_strided({2, 1, 6}, {24, 5, 2}),
  };
}

/// Torch keeps even the strides of dimensions of size 1 there.
bool is_left_alone(std::string_view name, const at::Tensor& x) {
  return (name == "hardtanh" || name == "relu6") && std::ranges::count(x.sizes(), 1) > 0;
}

ActivationScope& with_rules(ActivationScope& scope) {
  for (const char* function : {"sigmoid", "tanh", "softplus", "logsigmoid", "elu", "celu"}) {
    scope.rule(function, Bits{2});
  }
  return scope.rule("relu", Bits{1});
}

TEST(ScopeLayout, IsTorchsOwnForEveryFunction) {
  for (const at::Tensor& layout : layouts()) {
    for (const auto& [name, function] : kFunctions) {
      const at::Tensor x = layout.detach().requires_grad_();
      const at::Tensor expected = function(x);
      ActivationScope scope;
      with_rules(scope);
      const at::Tensor y = function(x);
      EXPECT_TRUE(is_few_bit(y) || is_left_alone(name, x)) << name;
      EXPECT_EQ(y.strides(), expected.strides())
          << name << " of " << x.sizes() << " with strides " << x.strides();
      EXPECT_TRUE(at::allclose(y, expected, 1e-5, 1e-6)) << name << " with strides " << x.strides();
    }
  }
}

TEST(ScopeLayout, GradientsComeBackInTheirPlaces) {
  for (const at::Tensor& layout : layouts()) {
    const at::Tensor x = layout.detach().requires_grad_();
    at::Tensor contiguous = layout.detach().contiguous().clone().requires_grad_();
    gelu(contiguous, Bits{3}).square().sum().backward();
    ActivationScope scope({.bits = 3});
    at::gelu(x).square().sum().backward();
    // Elements that share their memory each have their own gradient all the same.
    EXPECT_TRUE(at::allclose(x.grad(), contiguous.grad(), 1e-5, 1e-6)) << x.strides();
  }
}

TEST(ScopeLayout, ViewsOfWhatComesOutStayPossible) {
  const at::Tensor x = at::randn({2, 6, 4, 4}).requires_grad_();
  ActivationScope scope;
  const at::Tensor y = at::silu(x.contiguous(at::MemoryFormat::ChannelsLast).chunk(2, 1)[0]);
  EXPECT_TRUE(is_few_bit(y));
  EXPECT_NO_THROW(y.permute({0, 2, 3, 1}).view({2, 16, 3}));
}

}  // namespace fewbit::scope_layout_test
