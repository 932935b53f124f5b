// What goes wrong inside a scope, and scopes in many threads.

#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/autograd_node.hpp"

namespace fewbit::scope_fault_test {

using test::is_few_bit;

TEST(ActivationScopeFault, AnExceptionOfTheActivationLeavesTheScopeAsItWas) {
  const at::Tensor x = at::randn({10}).requires_grad_();
  {
    const ActivationScope scope;
    EXPECT_THROW(at::gelu(at::ones({3}, at::kLong)), c10::Error);
    EXPECT_THROW(at::gelu(x, "cube"), c10::Error);
    at::Tensor leaf = x;
    EXPECT_THROW(at::silu_(leaf), c10::Error);  // a leaf may not change, as outside
    EXPECT_TRUE(is_few_bit(at::gelu(x)));
    EXPECT_EQ(ActivationScope::current(), &scope);
  }
  EXPECT_FALSE(is_few_bit(at::gelu(x)));
}

TEST(ActivationScopeFault, ARefusedScopeIsNone) {
  const at::Tensor x = at::randn({10}).requires_grad_();
  EXPECT_THROW(ActivationScope({.bits = 9}), c10::Error);
  EXPECT_EQ(ActivationScope::current(), nullptr);
  EXPECT_FALSE(is_few_bit(at::gelu(x)));
}

TEST(ActivationScopeFault, AnExceptionOfBackwardLeavesTheScopeAsItWas) {
  const at::Tensor x = at::randn({10}).requires_grad_();
  const ActivationScope scope;
  const at::Tensor y = at::gelu(x);
  y.register_hook([](const at::Tensor& dy) -> at::Tensor {
    TORCH_CHECK(false, "hook");
    return dy;
  });
  EXPECT_THROW(y.sum().backward(), c10::Error);
  EXPECT_TRUE(is_few_bit(at::gelu(x)));
  EXPECT_EQ(ActivationScope::current(), &scope);
}

TEST(ActivationScopeFault, TenThreadsHaveEachTheirOwn) {
  const at::Tensor input = at::linspace(-4, 4, 3000);
  std::vector<at::Tensor> gradients(10);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < gradients.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        at::Tensor x = input.clone().requires_grad_();
        const ActivationScope scope({.bits = 1 + static_cast<int>(i % 4)});
        at::gelu(x).sum().backward();
        gradients[i] = x.grad();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < gradients.size(); ++i) {
    at::Tensor x = input.clone().requires_grad_();
    gelu(x, Bits{1 + static_cast<int>(i % 4)}).sum().backward();
    EXPECT_TRUE(at::equal(gradients[i], x.grad())) << i;
  }
}

}  // namespace fewbit::scope_fault_test
