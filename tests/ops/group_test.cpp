// group_encode and group_decode: shapes, memory order, threads, refusals.
#include "ops/group.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "kernels/quantizer/group.hpp"
#include "tests/ops/threads.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::group_test {

using ops::group_decode;
using ops::group_encode;
using test::refusal;

constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble};

at::Tensor seed_of(int64_t seed) {
  return at::full({1}, seed, at::kLong);
}

at::Tensor normal(at::IntArrayRef sizes, at::ScalarType type) {
  at::manual_seed(5);
  return at::randn(sizes).to(type);
}

TEST(GroupOperations, GiveCodesAndConstantsOfTheStatedShapesAndTheElementsBack) {
  for (const at::ScalarType type : kTypes) {
    for (const int64_t count : {0, 1, 63, 64, 65, 1000, 70000}) {
      const at::Tensor x = normal({count}, type);
      for (const char* rounding : {"nearest", "stochastic", "dithered", "squares"}) {
        const auto [codes, constants] = group_encode(x, 8, 64, rounding, seed_of(3), 4);
        EXPECT_EQ(codes.sizes(), at::IntArrayRef({kernels::code_bytes(count, 8)}));
        EXPECT_EQ(codes.scalar_type(), at::kByte);
        EXPECT_EQ(constants.sizes(), at::IntArrayRef({(count + 63) / 64, 2}));
        EXPECT_EQ(constants.scalar_type(), type == at::kDouble ? at::kDouble : at::kBFloat16);
        const at::Tensor back =
            group_decode(codes, constants, count, 8, 64, rounding, type, seed_of(3), 4);
        EXPECT_EQ(back.sizes(), x.sizes());
        EXPECT_EQ(back.scalar_type(), type);
        EXPECT_TRUE(at::allclose(back.to(at::kDouble), x.to(at::kDouble), 0.01, 0.04));
      }
    }
  }
}

TEST(GroupOperations, TakeElementsInTheOrderOfMemory) {
  const at::Tensor x = normal({3, 4, 5, 6}, at::kFloat);
  const at::Tensor images = x.contiguous(at::MemoryFormat::ChannelsLast);
  const auto [codes, constants] = group_encode(images, 3, 64, "nearest");
  const at::Tensor flat = images.permute({0, 2, 3, 1}).reshape({-1});
  EXPECT_TRUE(at::equal(codes, std::get<0>(group_encode(flat, 3, 64, "nearest"))));
  // Not dense in memory: a copy's.
  const at::Tensor part = x.slice(1, 0, 2);
  EXPECT_TRUE(at::equal(std::get<0>(group_encode(part, 3, 64, "nearest")),
                        std::get<0>(group_encode(part.clone(), 3, 64, "nearest"))));
  const at::Tensor expanded = x.slice(0, 0, 1).expand({3, 4, 5, 6});
  EXPECT_EQ(std::get<1>(group_encode(expanded, 3, 64, "nearest")).size(0), 6);
}

TEST(GroupOperations, GiveTheSameInEveryNumberOfThreads) {
  for (const int64_t group : {64, 1024}) {
    const at::Tensor x = normal({300001}, at::kFloat);
    std::vector<at::Tensor> first;
    for (const int threads : {1, 2, 5}) {
      const test::Threads guard(threads);
      const auto [codes, constants] = group_encode(x, 3, group, "dithered", seed_of(1), 2);
      const at::Tensor back =
          group_decode(codes, constants, 300001, 3, group, "dithered", at::kFloat, seed_of(1), 2);
      if (first.empty()) first = {codes, constants, back};
      EXPECT_TRUE(at::equal(codes, first[0]));
      EXPECT_TRUE(at::equal(constants, first[1]));
      EXPECT_TRUE(at::equal(back, first[2]));
    }
  }
}

TEST(GroupOperations, TakeTheirRandomNumbersFromSeedAndOffset) {
  const at::Tensor x = normal({1000}, at::kFloat);
  const auto codes = [&](int64_t seed, int64_t offset) {
    return std::get<0>(group_encode(x, 2, 64, "stochastic", seed_of(seed), offset));
  };
  EXPECT_TRUE(at::equal(codes(1, 2), codes(1, 2)));
  EXPECT_FALSE(at::equal(codes(1, 2), codes(2, 2)));
  EXPECT_FALSE(at::equal(codes(1, 2), codes(1, 3)));
}

TEST(GroupOperations, HaveShapesWithoutDataBeyond32Bits) {
  const int64_t many = (int64_t{1} << 31) + 17;
  const at::Tensor x = at::empty({many}, at::TensorOptions(at::kMeta).dtype(at::kHalf));
  const auto [codes, constants] = group_encode(x, 3, 256, "nearest");
  EXPECT_EQ(codes.numel(), kernels::code_bytes(many, 3));
  EXPECT_EQ(constants.size(0), (many + 255) / 256);
  EXPECT_EQ(group_decode(codes, constants, many, 3, 256, "nearest", at::kHalf).numel(), many);
}

TEST(GroupOperations, RefuseNumbersAndTypesThatTheyDoNotTake) {
  const at::Tensor x = at::ones({100});
  const auto with = [&](int64_t bits, int64_t group, const char* rounding) {
    return refusal([&] { group_encode(x, bits, group, rounding); });
  };
  EXPECT_EQ(with(2, 64, "nearest"), "accepted");
  EXPECT_EQ(with(0, 64, "nearest"), "fewbit::group_encode: bits is 0, accepted: 1 to 8");
  EXPECT_EQ(with(9, 64, "nearest"), "fewbit::group_encode: bits is 9, accepted: 1 to 8");
  for (const int64_t group : {0, 32, 96, 2048, -64}) {
    EXPECT_EQ(with(2, group, "nearest"), "fewbit::group_encode: group is " + std::to_string(group) +
                                             ", accepted: a power of two from 64 to 1024");
  }
  EXPECT_EQ(
      with(2, 64, "up"),
      "fewbit::group_encode: rounding is 'up', accepted: nearest, stochastic, dithered, squares");
  EXPECT_EQ(with(2, 64, "dithered"),
            "fewbit::group_encode: rounding 'dithered' takes a seed, one int64 on cpu");
  EXPECT_EQ(refusal([&] { group_encode(x.to(at::kInt), 2, 64, "nearest"); }),
            "fewbit::group_encode: a tensor of Int, accepted: float, bfloat16, half, double");
  EXPECT_EQ(refusal([&] { group_encode(x, 2, 64, "stochastic", at::ones({2}, at::kLong)); }),
            "fewbit::group_encode: seed is 2 elements of Long, accepted: one Long");
}

TEST(GroupOperations, RefuseCodesAndConstantsOfAnotherSize) {
  const auto encoded = group_encode(at::ones({100}), 2, 64, "nearest");
  const auto with = [](const at::Tensor& codes, const at::Tensor& constants, int64_t count) {
    return refusal([&] { group_decode(codes, constants, count, 2, 64, "nearest", at::kFloat); });
  };
  const auto& [codes, constants] = encoded;
  EXPECT_EQ(with(codes, constants, 100), "accepted");
  EXPECT_EQ(with(codes, constants, -1), "fewbit::group_decode: count is -1, accepted: 0 or more");
  EXPECT_EQ(with(codes, constants, 200),
            "fewbit::group_decode: codes has 32 bytes, accepted: 64, which 200 codes of 2 bits "
            "take");
  EXPECT_EQ(with(codes, constants.slice(0, 0, 1), 100),
            "fewbit::group_decode: constants is [1, 2] of BFloat16, accepted: contiguous [2, 2] of "
            "BFloat16");
  EXPECT_EQ(with(codes, constants.to(at::kFloat), 100),
            "fewbit::group_decode: constants is [2, 2] of Float, accepted: contiguous [2, 2] of "
            "BFloat16");
  EXPECT_EQ(with(codes, constants.to(at::kMeta), 100),
            "fewbit::group_decode: codes is on cpu, but another argument on meta");
}

}  // namespace fewbit::group_test
