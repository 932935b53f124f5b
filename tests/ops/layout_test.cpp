#include <gtest/gtest.h>

#include "tests/ops/support.hpp"

namespace fewbit::layout_test {

/// Gradients of sum(w * f(x)) by the few-bit operation on `x` as it lies and on a contiguous copy.
void expect_same_as_contiguous(const at::Tensor& x, const at::Tensor& weight) {
  at::Tensor laid_out = x.detach().requires_grad_();
  at::Tensor plain = x.detach().contiguous().clone().requires_grad_();
  const at::Tensor y = gelu(laid_out, Bits{3});
  const at::Tensor y_plain = gelu(plain, Bits{3});
  EXPECT_TRUE(at::equal(y, y_plain));
  y.backward(weight);
  y_plain.backward(weight.contiguous());
  EXPECT_TRUE(at::equal(laid_out.grad(), plain.grad()));
}

TEST(Layout, ChannelsLastIsKept) {
  const at::Tensor x = at::randn({2, 5, 7, 3}).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(gelu(x, Bits{3}).is_contiguous(at::MemoryFormat::ChannelsLast));
  expect_same_as_contiguous(x, at::randn_like(x));
  expect_same_as_contiguous(x, at::randn({2, 5, 7, 3}));
}

TEST(Layout, TransposedIsKept) {
  const at::Tensor x = at::randn({40, 30}).t();
  EXPECT_EQ(gelu(x, Bits{3}).strides(), x.strides());
  expect_same_as_contiguous(x, at::randn({30, 40}));
}

TEST(Layout, SlicesExpandedAndReversedInputsWork) {
  expect_same_as_contiguous(at::randn({40, 30}).slice(1, 3, 29, 2), at::randn({40, 13}));
  expect_same_as_contiguous(at::randn({40, 1}).expand({40, 30}), at::randn({40, 30}));
  expect_same_as_contiguous(at::randn({300}).slice(0, 1), at::randn({299}));
}

TEST(Layout, ExpandedGradientsWork) {
  at::Tensor x = at::randn({33, 17}).requires_grad_();
  at::Tensor again = x.detach().clone().requires_grad_();
  gelu(x, Bits{3}).sum().backward();
  gelu(again, Bits{3}).backward(at::ones({33, 17}));
  EXPECT_TRUE(at::equal(x.grad(), again.grad()));
}

TEST(Layout, ScalarsAndEmptyTensorsWork) {
  expect_same_as_contiguous(at::tensor(0.7), at::tensor(2.0));
  at::Tensor empty = at::empty({0, 5}).requires_grad_();
  const at::Tensor y = gelu(empty, Bits{3});
  EXPECT_EQ(y.sizes(), empty.sizes());
  y.sum().backward();
  EXPECT_EQ(empty.grad().numel(), 0);
}

TEST(Layout, TheInputIsNeverChanged) {
  const at::Tensor x = at::randn({1000});
  const at::Tensor copy = x.clone();
  gelu(x.detach().requires_grad_(), Bits{3}).sum().backward();
  EXPECT_TRUE(at::equal(x, copy));
}

}  // namespace fewbit::layout_test
