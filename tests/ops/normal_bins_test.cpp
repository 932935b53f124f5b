// Codes of norms' inputs by bins: the kernels of floats and torch's operations, which doubles are
// coded by, say the same in every layout of x and of what stands beside it.
#include "ops/normal_bins.hpp"

#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ops/find.hpp"
#include "ops/integers.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::normal_bins_ops_test {

ops::NormNumbers of_type(const ops::NormNumbers& numbers, at::ScalarType type) {
  return {numbers.mean.to(type), numbers.deviation.to(type), numbers.sign.to(type),
          numbers.ratio.to(type)};
}

/// over: dimensions that share a mean; beside: sizes of the weights beside x.
ops::NormNumbers numbers_of(const at::Tensor& x, const std::vector<int64_t>& over,
                            const std::vector<int64_t>& beside) {
  const at::Tensor sign = at::randint(2, beside, at::kFloat) * 2.0 - 1.0;
  return {x.mean(over, true), x.std(over, false, true), sign, at::randn(beside) * 2.0};
}

void expect_same(const at::Tensor& x, const ops::NormNumbers& numbers) {
  for (const int bits : {1, 2, 4, 8}) {
    const at::Tensor codes = ops::normal_bins_encode(x, numbers, bits);
    const ops::NormNumbers doubles = of_type(numbers, at::kDouble);
    const at::Tensor exact = ops::normal_bins_encode(x.to(at::kDouble), doubles, bits);
    const auto bins = [&](const at::Tensor& stream) {
      return ops::integer_decode(stream, x.numel(), 0, bits, at::kByte);
    };
    // But for elements within rounding of an edge.
    EXPECT_LE(bins(codes).ne(bins(exact)).sum().item<int64_t>(), x.numel() / 2000) << bits;
    const at::Tensor back =
        ops::normal_bins_decode(codes, x.sizes(), x.strides(), at::kFloat, numbers, bits);
    EXPECT_EQ(back.strides(), x.strides());
    const at::Tensor wanted =
        ops::normal_bins_decode(codes, x.sizes(), x.strides(), at::kDouble, doubles, bits);
    EXPECT_TRUE(at::allclose(back.to(at::kDouble), wanted, 1e-5, 1e-5)) << bits;
  }
}

TEST(NormalBinsOperation, IsThatOfTorchsOperationsInEveryLayout) {
  at::manual_seed(81);
  const at::Tensor maps = at::randn({6, 10, 9, 7}) * 3.0 + 1.0;
  for (const at::Tensor& x :
       {maps, maps.contiguous(at::MemoryFormat::ChannelsLast),
        maps.transpose(0, 1).contiguous().transpose(0, 1), maps.transpose(2, 3)}) {
    expect_same(x, numbers_of(x, {0, 2, 3}, {1, 10, 1, 1}));               // a batch's
    expect_same(x, numbers_of(x, {2, 3}, {}));                             // an instance's
    expect_same(x, numbers_of(x, {1, 2, 3}, {10, x.size(2), x.size(3)}));  // a layer's
    expect_same(x, numbers_of(x, {0, 1, 2, 3}, {x.size(2), 1}));
    // Of groups, where the channels lie apart or together.
    const at::Tensor groups = x.unflatten(1, {5, 2});
    expect_same(groups, numbers_of(groups, {2, 3, 4}, {1, 5, 2, 1, 1}));
  }
  // A bias without a weight.
  ops::NormNumbers biased = numbers_of(maps, {0, 2, 3}, {1, 10, 1, 1});
  biased.sign = at::ones({});
  expect_same(maps, biased);
  const at::Tensor rows = at::randn({300, 65});
  expect_same(rows, numbers_of(rows, {1}, {65}));
  expect_same(rows, numbers_of(rows, {0}, {1, 65}));
  const at::Tensor many = at::randn({4, 3, 200, 150});  // several threads
  expect_same(many, numbers_of(many, {0, 2, 3}, {1, 3, 1, 1}));
}

TEST(NormalBinsOperation, TakesOneElement) {
  const at::Tensor x = at::full({1, 1}, 2.0);
  expect_same(x, {at::full({1, 1}, 1.0), at::full({1, 1}, 3.0), at::ones({}), at::zeros({})});
}

TEST(NormalBinsOperation, SaysWhatItDoesNotTake) {
  using Encode = at::Tensor(const at::Tensor&, const at::Tensor&, int64_t, const at::Tensor&,
                            int64_t, int64_t);
  const auto encode = ops::find<Encode>("fewbit::normal_bins_encode");
  const at::Tensor x = at::randn({6, 4}), two = at::ones({2, 3}), four = at::ones({4, 1});
  const auto refused = [&](const at::Tensor& of, const at::Tensor& statistics, int64_t run,
                           int64_t bits) {
    return test::refusal([&] { encode.call(of, statistics, run, four, 1, bits); });
  };
  EXPECT_EQ(refused(x, two, 1, 9), "fewbit::normal_bins_encode: bits is 9, accepted: 1 to 8");
  EXPECT_EQ(refused(x.to(at::kDouble), two, 1, 2),
            "fewbit::normal_bins_encode: no double is accepted");
  EXPECT_EQ(refused(x.t(), two, 1, 2), "fewbit::normal_bins_encode: x is not contiguous");
  EXPECT_EQ(refused(x, two, 0, 2),
            "fewbit::normal_bins_encode: statistics_run is 0, accepted: 1 and more");
  EXPECT_EQ(
      refused(x, four, 1, 2),
      "fewbit::normal_bins_encode: statistics is CPUFloatType [4, 1], accepted: float [2, n], "
      "contiguous, n of 1 and more");
}

}  // namespace fewbit::normal_bins_ops_test
