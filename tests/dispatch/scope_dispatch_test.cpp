// What comes before and after the scope in torch's dispatcher: autocast, transforms of functorch,
// operations that call activations themselves.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/DynamicLayer.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include "dispatch/activation_call.hpp"
#include "fewbit/fewbit.hpp"
#include "tests/support/autograd_node.hpp"

namespace fewbit::scope_dispatch_test {

using test::is_few_bit;

at::Tensor input() {
  return at::randn({6, 8}).requires_grad_();
}

/// What torch's list for CUDA says of softplus.
at::Tensor softplus_in_float(const at::Tensor& x, const at::Scalar& beta,
                             const at::Scalar& threshold) {
  const c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::AutocastCPU);
  return at::softplus(at::autocast::cached_cast(at::kFloat, x, at::kCPU), beta, threshold);
}

struct Autocast {
  Autocast() { at::autocast::set_autocast_enabled(at::kCPU, true); }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast() { at::autocast::set_autocast_enabled(at::kCPU, false); }
};

bool is_cast(const char* name, c10::DispatchKey key) {
  const auto operation = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  return operation.hasKernelForDispatchKey(key);
}

TEST(ScopeDispatch, NoCallOfAnOperationWithinAnotherCounts) {
  Calibrator calibrator;
  const at::Tensor x = input();
  {
    ActivationScope scope({.bits = 2}, calibrator);
    scope.rule("logsigmoid", Bits{2});
    at::binary_cross_entropy_with_logits(x, at::zeros({6, 8})).backward();
    EXPECT_TRUE(scope.entries().empty()) << scope.report();
    at::log_sigmoid(x);
    EXPECT_EQ(scope.entries().size(), 1u);
  }
  EXPECT_EQ(calibrator.fit().size(), 1u);
}

/// Operations of this thread that profilers hear of meanwhile.
class Events {
 public:
  Events() { all().clear(); }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() { at::removeCallback(callback_); }

  int64_t count(const std::string& operation) const {
    return std::count(all().begin(), all().end(), operation);
  }

 private:
  static std::vector<std::string>& all() {
    static thread_local std::vector<std::string> all;
    return all;
  }

  at::CallbackHandle callback_ =
      at::addThreadLocalCallback(at::RecordFunctionCallback([](const at::RecordFunction& function) {
        all().emplace_back(function.name());
        return std::unique_ptr<at::ObserverContext>();
      }));
};

TEST(ScopeDispatch, ProfilersHearOfACallOnce) {
  const at::Tensor x = input(), weight = at::randn({8, 8}).requires_grad_();
  const ActivationScope scope({.bits = 2});
  const Events events;
  at::linear(x, weight);
  at::relu(x);
  const at::NoGradGuard guard;
  at::gelu(x);
  for (const char* operation : {"aten::linear", "aten::relu", "aten::gelu"}) {
    EXPECT_EQ(events.count(operation), 1) << operation;
  }
}

TEST(ScopeDispatch, AutocastKnowsSoftplusAlone) {
  for (const std::string& activation : session::activation_operations()) {
    const std::string name = "aten::" + activation;
    EXPECT_FALSE(is_cast(name.c_str(), c10::DispatchKey::AutocastCPU)) << name;
    EXPECT_EQ(is_cast(name.c_str(), c10::DispatchKey::AutocastCUDA), name == "aten::softplus");
  }
}

TEST(ScopeDispatch, WhatAutocastComputesInFloatIsFloat) {
  torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::AutocastCPU, __FILE__,
                         __LINE__);
  library.impl("softplus", &softplus_in_float);
  const at::Tensor x = at::randn({6, 8}, at::kBFloat16).requires_grad_();
  const Autocast autocast;
  const at::Tensor expected = at::softplus(x);
  ASSERT_EQ(expected.scalar_type(), at::kFloat);
  ActivationScope scope;
  scope.rule("softplus", Bits{3});
  const at::Tensor y = at::softplus(x);
  EXPECT_TRUE(is_few_bit(y));
  EXPECT_EQ(y.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::allclose(y, expected, 1e-6, 1e-6));
  EXPECT_EQ(at::gelu(x).scalar_type(), at::kBFloat16);
  y.sum().backward();
  EXPECT_EQ(x.grad().scalar_type(), at::kBFloat16);
}

TEST(ScopeDispatch, TransformsOfFunctorchAreTorchs) {
  namespace functorch = at::functorch;
  const at::Tensor x = input();
  const ActivationScope scope;
  const int64_t level = functorch::initAndPushDynamicLayer(
      functorch::TransformType::Vmap, c10::SymInt(6), functorch::RandomnessType::Error);
  const at::Tensor y = at::gelu(functorch::makeBatched(x, 0, level));
  const at::Tensor values = functorch::maybeGetBatchedImpl(y)->value();
  functorch::popDynamicLayerAndDeleteMetadata();
  EXPECT_TRUE(at::allclose(values, at::gelu(x.detach())));
  // What vmap calls below is the same function of the whole batch.
  ASSERT_FALSE(scope.entries().empty());
  EXPECT_EQ(scope.entries()[0].outcome, "inside a transform of functorch");
}

}  // namespace fewbit::scope_dispatch_test
