// group_encode_samples and group_decode_samples: shapes, memory order, threads, refusals.
#include "ops/group_samples.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "kernels/quantizer/group.hpp"
#include "ops/group.hpp"
#include "ops/group_samples_arguments.hpp"
#include "tests/ops/threads.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::group_samples_test {

using ops::group_decode_samples;
using ops::group_encode_samples;
using ops::group_sample_bytes;
using test::refusal;

constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble};

at::Tensor seed_of(int64_t seed) {
  return at::full({1}, seed, at::kLong);
}

at::Tensor normal(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
  at::manual_seed(5);
  return at::randn(sizes).to(type);
}

at::Tensor bits_of(std::vector<int64_t> bits) {
  return at::tensor(bits).to(at::kByte);
}

at::Tensor mixed_bits(int64_t samples) {
  return at::arange(samples).mul(3).remainder(8).add(1).to(at::kByte);
}

std::tuple<at::Tensor, at::Tensor> encode(const at::Tensor& x, const at::Tensor& bits,
                                          const char* rounding, int64_t group = 64) {
  const int64_t count = x.numel() / std::max<int64_t>(x.size(0), 1);
  return group_encode_samples(x, bits, group_sample_bytes(bits, count), group, rounding, seed_of(3),
                              4);
}

/// By group_encode and group_decode of every sample alone.
struct Reference {
  at::Tensor codes;
  at::Tensor constants;
  at::Tensor values;
};

Reference reference(const at::Tensor& x, const at::Tensor& bits, const char* rounding,
                    int64_t group = 64) {
  std::vector<at::Tensor> codes;
  std::vector<at::Tensor> constants;
  std::vector<at::Tensor> values;
  for (int64_t i = 0; i < x.size(0); ++i) {
    const int64_t own = bits[i].item().toLong();
    const int64_t offset = 4 + (i << 32);
    const auto [a, b] = ops::group_encode(x[i], own, group, rounding, seed_of(3), offset);
    codes.push_back(a);
    constants.push_back(b);
    values.push_back(ops::group_decode(a, b, x[i].numel(), own, group, rounding, x.scalar_type(),
                                       seed_of(3), offset));
  }
  return {at::cat(codes), at::cat(constants), at::stack(values)};
}

void expect_reference(const at::Tensor& x, const char* rounding, int64_t group = 64) {
  const at::Tensor bits = mixed_bits(x.size(0));
  const auto [codes, constants] = encode(x, bits, rounding, group);
  const Reference wanted = reference(x, bits, rounding, group);
  EXPECT_TRUE(at::equal(codes, wanted.codes)) << x.sizes();
  EXPECT_TRUE(at::equal(constants, wanted.constants)) << x.sizes();
  EXPECT_EQ(constants.scalar_type(), x.scalar_type() == at::kDouble ? at::kDouble : at::kBFloat16);
  const at::Tensor back = group_decode_samples(codes, constants, bits, x.numel() / x.size(0), group,
                                               rounding, x.scalar_type(), seed_of(3), 4);
  EXPECT_EQ(back.scalar_type(), x.scalar_type());
  EXPECT_TRUE(at::equal(back, wanted.values)) << x.sizes();
}

TEST(GroupSampleOperations, AreThoseOfEverySampleAlone) {
  for (const at::ScalarType type : kTypes) {
    for (const char* rounding : {"nearest", "stochastic", "dithered", "squares"}) {
      expect_reference(normal({1, 1}, type), rounding);
      expect_reference(normal({1, 1000}, type), rounding, 128);
      expect_reference(normal({9}, type), rounding);
      expect_reference(normal({17, 3, 5}, type), rounding);
      expect_reference(normal({5, 3, 7, 31}, type), rounding, 256);
      expect_reference(normal({3, 20001}, type), rounding, 1024);
    }
  }
}

TEST(GroupSampleOperations, TakeSamplesInTheOrderOfMemoryWhereTheyAreWholeThere) {
  const at::Tensor x = normal({3, 4, 5, 6});
  const at::Tensor bits = mixed_bits(3);
  const auto codes = [&](const at::Tensor& of) { return std::get<0>(encode(of, bits, "nearest")); };
  const at::Tensor images = x.contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(ops::has_samples_in_order(images));
  EXPECT_TRUE(at::equal(codes(images), codes(x.permute({0, 2, 3, 1}).contiguous())));
  const at::Tensor turned = x.transpose(0, 1).contiguous().transpose(0, 1);
  EXPECT_FALSE(ops::has_samples_in_order(turned));
  EXPECT_TRUE(at::equal(codes(turned), codes(x)));
  EXPECT_TRUE(at::equal(codes(x.slice(1, 0, 2)), codes(x.slice(1, 0, 2).clone())));
  const at::Tensor expanded = x.slice(0, 0, 1).expand({3, 4, 5, 6});
  EXPECT_TRUE(at::equal(codes(expanded), codes(expanded.contiguous())));
}

TEST(GroupSampleOperations, GiveTheSameInEveryNumberOfThreads) {
  for (const auto& sizes : {std::vector<int64_t>{3, 70001}, {3000, 65}, {40000, 1}}) {
    const at::Tensor x = normal(sizes);
    const at::Tensor bits = mixed_bits(sizes[0]);
    std::vector<at::Tensor> first;
    for (const int threads : {1, 2, 5}) {
      const test::Threads guard(threads);
      const auto [codes, constants] = encode(x, bits, "dithered");
      const at::Tensor back = group_decode_samples(codes, constants, bits, sizes[1], 64, "dithered",
                                                   at::kFloat, seed_of(3), 4);
      if (first.empty()) first = {codes, constants, back};
      EXPECT_TRUE(at::equal(codes, first[0]));
      EXPECT_TRUE(at::equal(constants, first[1]));
      EXPECT_TRUE(at::equal(back, first[2]));
    }
  }
}

TEST(GroupSampleOperations, FindWhereCodesBeginWithoutLookingAtBits) {
  for (const int64_t count :
       {int64_t{0}, int64_t{1}, int64_t{127}, int64_t{128}, int64_t{1} << 40}) {
    for (const int64_t samples : {0, 1, 17}) {
      const at::Tensor bits = mixed_bits(samples);
      const int64_t bytes = group_sample_bytes(bits, count);
      EXPECT_TRUE(at::equal(ops::check_sample_bytes_later("op", "bytes", bytes, bits, count),
                            ops::check_sample_bytes("op", "bytes", bytes, bits, count)));
    }
  }
  const auto later = [](const at::Tensor& bits, int64_t bytes) {
    return refusal([&] { ops::check_sample_bytes_later("op", "bytes is 0", bytes, bits, 128); });
  };
  EXPECT_EQ(later(bits_of({3, 8}), 11 * 16), "accepted");
  EXPECT_NE(later(bits_of({3, 8}), 12 * 16).find("op: bytes is 0"), std::string::npos);
  EXPECT_NE(later(bits_of({2, 0, 9}), 11 * 16).find("bits are not 1 to 8"), std::string::npos);
}

TEST(GroupSampleOperations, TakeNothingWhereThereIsNothing) {
  for (const auto& sizes : {std::vector<int64_t>{0, 5}, {0}, {4, 0}, {0, 0}}) {
    const at::Tensor bits = mixed_bits(sizes[0]);
    const int64_t count = sizes.size() > 1 ? sizes[1] : 1;
    const auto [codes, constants] = encode(at::empty(sizes), bits, "stochastic");
    EXPECT_EQ(codes.numel(), 0);
    EXPECT_EQ(constants.sizes(), at::IntArrayRef({0, 2}));
    const at::Tensor back =
        group_decode_samples(codes, constants, bits, count, 64, "nearest", at::kFloat);
    EXPECT_EQ(back.sizes(), at::IntArrayRef({sizes[0], count}));
  }
}

TEST(GroupSampleOperations, TakeTheBytesOfEverySampleAlone) {
  EXPECT_EQ(group_sample_bytes(bits_of({}), 100), 0);
  EXPECT_EQ(group_sample_bytes(bits_of({1, 8, 3}), 0), 0);
  EXPECT_EQ(group_sample_bytes(bits_of({1, 8, 3}), 100), 16 + 112 + 48);
  EXPECT_EQ(group_sample_bytes(bits_of({8, 8}), int64_t{1} << 40), int64_t{1} << 41);
}

TEST(GroupSampleOperations, HaveShapesWithoutDataBeyond32Bits) {
  const int64_t many = (int64_t{1} << 31) + 17;
  const at::Tensor x = at::empty({3, many}, at::TensorOptions(at::kMeta).dtype(at::kHalf));
  const at::Tensor bits = bits_of({2, 4, 1});
  const int64_t bytes = group_sample_bytes(bits, many);
  const at::Tensor without = bits.to(at::kMeta);
  const auto [codes, constants] = group_encode_samples(x, without, bytes, 256, "nearest");
  EXPECT_EQ(codes.numel(), bytes);
  EXPECT_EQ(constants.size(0), 3 * ((many + 255) / 256));
  EXPECT_EQ(
      group_decode_samples(codes, constants, without, many, 256, "nearest", at::kHalf).sizes(),
      x.sizes());
}

TEST(GroupSampleOperations, RefuseBitsThatAreNotThoseOfTheSamples) {
  const at::Tensor x = at::ones({3, 100});
  const auto with = [&](const at::Tensor& bits, int64_t bytes = 80) {
    return refusal([&] { group_encode_samples(x, bits, bytes, 64, "nearest"); });
  };
  const std::string start = "fewbit::group_encode_samples: ";
  EXPECT_EQ(with(bits_of({1, 2, 2})), "accepted");
  EXPECT_EQ(with(bits_of({1, 0, 2})), start + "bits[1] is 0, accepted: 1 to 8");
  EXPECT_EQ(with(bits_of({1, 2, 9})), start + "bits[2] is 9, accepted: 1 to 8");
  EXPECT_EQ(with(bits_of({1, 2})),
            start +
                "x is [3, 100], but bits has 2 elements, accepted: one for each index of "
                "dimension 0");
  EXPECT_EQ(with(at::ones({3})),
            start + "bits is a 1-d tensor of Float, accepted: contiguous 1-d uint8");
  EXPECT_EQ(
      with(bits_of({1, 2, 2}), 96),
      start + "bytes is 96, accepted: 80, which 3 samples of 100 elements take in these bits");
  EXPECT_EQ(
      with(bits_of({1, 2, 2}), -1),
      start + "bytes is -1, accepted: 80, which 3 samples of 100 elements take in these bits");
  EXPECT_EQ(with(bits_of({1, 2, 2}).to(at::kMeta)),
            start + "x is on cpu, but another argument on meta");
  EXPECT_EQ(
      refusal([&] { group_encode_samples(at::ones({}), bits_of({1}), 16, 64, "nearest"); }),
      start + "x is [], but bits has 1 elements, accepted: one for each index of dimension 0");
  EXPECT_EQ(refusal([] { group_sample_bytes(bits_of({9}), 100); }),
            "fewbit::group_sample_bytes: bits[0] is 9, accepted: 1 to 8");
}

TEST(GroupSampleOperations, RefuseCodesAndConstantsOfAnotherSize) {
  const at::Tensor bits = bits_of({1, 3, 3});
  const auto encoded = encode(at::ones({3, 100}), bits, "nearest");
  const auto with = [&](const at::Tensor& codes, const at::Tensor& constants, int64_t count) {
    return refusal(
        [&] { group_decode_samples(codes, constants, bits, count, 64, "nearest", at::kFloat); });
  };
  const auto& [codes, constants] = encoded;
  const std::string start = "fewbit::group_decode_samples: ";
  EXPECT_EQ(with(codes, constants, 100), "accepted");
  EXPECT_EQ(with(codes, constants, -1), start + "count is -1, accepted: 0 or more");
  EXPECT_EQ(with(codes.slice(0, 16), constants, 100),
            start +
                "codes has 96 bytes, accepted: 112, which 3 samples of 100 elements take in "
                "these bits");
  EXPECT_EQ(with(codes, constants.slice(0, 0, 3), 100),
            start + "constants is [3, 2] of BFloat16, accepted: contiguous [6, 2] of BFloat16");
  EXPECT_EQ(with(codes.to(at::kChar), constants, 100),
            start + "codes is a 1-d tensor of Char, accepted: contiguous 1-d uint8");
}

}  // namespace fewbit::group_samples_test
