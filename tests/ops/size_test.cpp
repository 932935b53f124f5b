// Arithmetic of more elements than an int counts, on tensors without memory.

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "kernels/stream/code_stream.hpp"
#include "ops/tensor_arguments.hpp"
#include "tests/ops/support.hpp"

namespace fewbit::size_test {

constexpr int64_t kMany = (int64_t{1} << 31) + 17;

at::Tensor without_memory(at::IntArrayRef sizes) {
  return at::empty(sizes, at::TensorOptions(at::kMeta).dtype(at::kHalf));
}

TEST(Sizes, OfCodesAreExactBeyond32Bits) {
  for (int bits = 1; bits <= 8; ++bits) {
    for (const int64_t count :
         {int64_t{0}, int64_t{1}, int64_t{129}, kMany - 18, kMany, 8 * kMany + 5}) {
      const int64_t whole = (count * bits + 127) / 128 * 16;
      EXPECT_EQ(kernels::code_bytes(count, bits), whole) << count << " x " << bits;
      EXPECT_EQ(ops::code_bytes(c10::SymInt(count), bits).expect_int(), whole);
    }
  }
}

TEST(Sizes, OfForwardAndBackwardAreThoseOfTheInputBeyond32Bits) {
  const Table table = Table::standard("gelu", Bits{3});
  for (const at::Tensor& x : {without_memory({kMany}), without_memory({1 << 16, 3 << 15}).t(),
                              without_memory({1, 1 << 17, 1 << 16}).transpose(1, 2)}) {
    const auto [y, codes] = test::forward(x, table);
    EXPECT_EQ(y.sizes(), x.sizes());
    EXPECT_EQ(y.strides(), x.strides());
    EXPECT_EQ(codes.numel(), kernels::code_bytes(x.numel(), 3));
    const at::Tensor dx = test::backward(y, codes, table);
    EXPECT_EQ(dx.sizes(), x.sizes());
  }
}

TEST(Sizes, OfGradientsAreThoseOfTheInputBeyond32Bits) {
  const at::Tensor x = without_memory({3, kMany}).requires_grad_();
  const at::Tensor y = gelu(x, Bits{3});
  const at::Tensor expanded = at::empty({1, 1}, x.options()).expand({3, kMany});
  const at::Tensor dx = torch::autograd::grad({y}, {x}, {expanded})[0];
  EXPECT_EQ(dx.sizes(), x.sizes());
  EXPECT_EQ(dx.strides(), x.strides());
}

}  // namespace fewbit::size_test
