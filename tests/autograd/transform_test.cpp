// Gradients in batches, and modes that would leave their mark on what outlives them.
#include <ATen/ATen.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/DynamicLayer.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "fewbit/fewbit.hpp"

namespace fewbit::transform_test {

/// The gradients of y for a batch of dy in one backward pass, as grad(is_grads_batched=True).
at::Tensor batched_gradients(const at::Tensor& y, const at::Tensor& x, const at::Tensor& dy) {
  namespace functorch = at::functorch;
  const int64_t level = functorch::initAndPushDynamicLayer(
      functorch::TransformType::Vmap, dy.sym_size(0), functorch::RandomnessType::Error);
  const auto dx =
      torch::autograd::grad({y}, {x}, {functorch::makeBatched(dy, 0, level)}, true).at(0);
  const auto* batched = functorch::maybeGetBatchedImpl(dx);
  at::Tensor all = batched->value().movedim(batched->bdim(), 0);
  functorch::popDynamicLayerAndDeleteMetadata();
  return all;
}

using Layer = at::Tensor (*)(const at::Tensor&);

void expect_batches_as_single_ones(const Layer& layer) {
  const at::Tensor x = at::randn({4, 3}).requires_grad_();
  const at::Tensor y = layer(x);
  std::vector<int64_t> shape = y.sizes().vec();
  shape.insert(shape.begin(), 5);
  const at::Tensor dy = at::randn(shape);
  const at::Tensor all = batched_gradients(y, x, dy);
  for (int64_t i = 0; i < 5; ++i) {
    const auto one = torch::autograd::grad({y}, {x}, {dy[i]}, true).at(0);
    EXPECT_TRUE(at::equal(all[i], one)) << i;
  }
}

TEST(BatchedGradient, IsThatOfEverySingleOne) {
  expect_batches_as_single_ones([](const at::Tensor& x) { return gelu(x, Bits{3}); });
}

TEST(BatchedGradient, OfExpandedAndPermutedOnesToo) {
  expect_batches_as_single_ones([](const at::Tensor& x) { return gelu(x, Bits{3}).sum(1); });
  expect_batches_as_single_ones([](const at::Tensor& x) { return gelu(x, Bits{3}).t(); });
  expect_batches_as_single_ones([](const at::Tensor& x) { return gelu(x.t(), Bits{3}).sum(0); });
  expect_batches_as_single_ones([](const at::Tensor& x) { return silu(x, Bits{2}).sum(); });
}

TEST(InferenceMode, LeavesTablesFitForTraining) {
  const double unused = 0.8137;  // a table of this beta is solved here for the first time
  {
    const c10::InferenceMode guard;
    EXPECT_FALSE(silu(at::randn({5}), Bits{3}, unused).requires_grad());
  }
  at::Tensor x = at::randn({5}).requires_grad_();
  EXPECT_NO_THROW(silu(x, Bits{3}, unused).sum().backward());
  EXPECT_TRUE(x.grad().defined());
}

}  // namespace fewbit::transform_test
