// Scopes that do not end in the order and the thread in which they began.
#include <memory>
#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/autograd_node.hpp"

namespace fewbit::scope_lifetime_test {

using test::is_few_bit;

at::Tensor gelu_of_some() {
  return at::gelu(at::randn({3}).requires_grad_());
}

void expect_no_scope() {
  EXPECT_EQ(ActivationScope::current(), nullptr);
  EXPECT_FALSE(is_few_bit(gelu_of_some()));
  EXPECT_TRUE(torch::jit::getGraphExecutorOptimize());
}

TEST(ScopeLifetime, ScopesOnTheHeapEndInAnyOrder) {
  auto first = std::make_unique<ActivationScope>();
  auto second = std::make_unique<ActivationScope>();
  first.reset();
  EXPECT_EQ(ActivationScope::current(), second.get());
  EXPECT_TRUE(is_few_bit(gelu_of_some()));
  EXPECT_EQ(second->entries().size(), 1u);
  second.reset();
  expect_no_scope();
}

TEST(ScopeLifetime, OneInTheMiddleMayEndFirst) {
  const ActivationScope first;
  auto second = std::make_unique<ActivationScope>();
  auto third = std::make_unique<ActivationScope>();
  second.reset();
  EXPECT_EQ(ActivationScope::current(), third.get());
  third.reset();
  EXPECT_EQ(ActivationScope::current(), &first);
  EXPECT_TRUE(is_few_bit(gelu_of_some()));
}

TEST(ScopeLifetime, AnotherThreadMayEndAScope) {
  auto scope = std::make_unique<ActivationScope>();
  std::thread([&] {
    scope.reset();
    EXPECT_FALSE(is_few_bit(gelu_of_some()));
    const ActivationScope own;
    EXPECT_TRUE(is_few_bit(gelu_of_some()));
  }).join();
  expect_no_scope();
  const ActivationScope again;
  EXPECT_TRUE(is_few_bit(gelu_of_some()));
}

TEST(ScopeLifetime, AScopeMayOutliveItsThread) {
  std::unique_ptr<ActivationScope> scope;
  std::thread([&] { scope = std::make_unique<ActivationScope>(); }).join();
  expect_no_scope();
  scope.reset();
  expect_no_scope();
}

TEST(ScopeLifetime, AScopeMayOutliveWhatTheThreadKeeps) {
  std::thread([] {
    thread_local std::unique_ptr<ActivationScope> scope;  // ends after what the scope needs
    scope = std::make_unique<ActivationScope>();
    EXPECT_TRUE(is_few_bit(gelu_of_some()));
  }).join();
}

}  // namespace fewbit::scope_lifetime_test
