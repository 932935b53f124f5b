// Means and factors of channels, against the sum written out in double.
#include "ops/channels.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

namespace fewbit::channels_test {

struct Numbers {
  at::Tensor mean, factor, weight, bias;
};

/// The largest difference to what double gives, over the largest number.
double largest_error(const at::Tensor& x, const Numbers& of) {
  std::vector<int64_t> beside(static_cast<size_t>(x.dim()), 1);
  beside[1] = -1;
  const auto exact = [&](const at::Tensor& numbers, double otherwise) {
    return numbers.defined() ? numbers.to(at::kDouble).view(beside)
                             : at::full({}, otherwise, x.options().dtype(at::kDouble));
  };
  const at::Tensor expected =
      (x.to(at::kDouble) - exact(of.mean, 0.0)) * exact(of.factor, 1.0) * exact(of.weight, 1.0) +
      exact(of.bias, 0.0);
  const at::Tensor result = ops::by_channels(x, of.mean, of.factor, of.weight, of.bias);
  EXPECT_EQ(result.sizes(), x.sizes());
  EXPECT_EQ(result.scalar_type(), x.scalar_type());
  return ((result.to(at::kDouble) - expected).abs().max() / expected.abs().max()).item<double>();
}

void expect_the_sum(at::Device device) {
  at::manual_seed(5);
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    const auto statistics = type == at::kDouble ? at::kDouble : at::kFloat;
    const auto options = at::TensorOptions().dtype(statistics).device(device);
    const Numbers numbers{at::randn({6}, options), at::rand({6}, options), at::randn({6}, options),
                          at::randn({6}, options)};
    const double rounding = type == at::kDouble ? 1e-14 : type == at::kFloat ? 1e-6 : 1e-2;
    for (at::Tensor x : {at::randn({5, 6}, options), at::randn({3, 6, 7}, options),
                         at::randn({2, 6, 5, 4}, options),
                         at::randn({2, 6, 5, 4}, options).to(at::MemoryFormat::ChannelsLast)}) {
      x = x.to(type);
      EXPECT_LE(largest_error(x, numbers), rounding) << type << ", " << x.sizes();
      EXPECT_LE(largest_error(x, {numbers.mean, numbers.factor, {}, {}}), rounding);
      EXPECT_LE(largest_error(x, {numbers.mean, numbers.factor, {}, numbers.bias}), rounding);
    }
  }
}

TEST(Channels, AreShiftedAndScaledInTheTypeOfTheTensor) {
  expect_the_sum(at::kCPU);
}

TEST(CudaChannels, AreShiftedAndScaledInTheTypeOfTheTensor) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "libtorch sees no CUDA device";
  expect_the_sum(at::kCUDA);
}

}  // namespace fewbit::channels_test
