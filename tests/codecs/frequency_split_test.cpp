// DIVISION's codec: means of blocks, and what is left in few bits.
#include <cmath>

#include <gtest/gtest.h>

#include "tests/codecs/support.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::codecs::frequency_split_test {

using Sizes = std::vector<int64_t>;

/// Of 1, 2 and 3 dimensions, few of which the block divides.
const std::vector<Sizes> kSizes = {{2, 3, 16},        {2, 3, 21},        {3, 2, 1, 40},
                                   {2, 3, 16, 8},     {2, 3, 9, 7},      {1, 2, 35, 50},
                                   {5, 1, 1, 1},      {2, 2, 3, 11, 18}, {1, 1, 2000},
                                   {2, 1, 16, 9, 10}, {2, 3, 64, 17}};

at::Tensor back(const CodecPointer& codec, const at::Tensor& x, int64_t seed = 1) {
  return codec->encode(x, random_of(seed))->decoded().as_strided(x.sizes(), x.strides());
}

/// Something of all frequencies, few of the highest.
at::Tensor smooth(const Sizes& sizes) {
  at::Tensor x = at::randn(sizes);
  for (int64_t i = 2; i < x.dim(); ++i) x = x.cumsum(i) / 3.0;
  return x;
}

/// The mean of the block that an element is in, at every element, by its definition.
at::Tensor means_of(const at::Tensor& x, int64_t block) {
  at::Tensor sums = x.to(at::kDouble);
  for (int64_t i = 2; i < x.dim(); ++i) {
    std::vector<at::Tensor> parts;
    for (const at::Tensor& part : sums.split(block, i)) {
      parts.push_back(part.mean(i, true).expand_as(part));
    }
    sums = at::cat(parts, i);
  }
  return sums;
}

double energy(const at::Tensor& x) {
  return x.to(at::kDouble).square().sum().item().toDouble();
}

/// Of every element: between levels of its group of a plane.
at::Tensor steps_of(const Encoded& encoded, const Sizes& sizes, int bits) {
  const int64_t rows = sizes[0] * sizes[1];
  const at::Tensor half = encoded.tensors()[2].to(at::kDouble).select(1, 1);
  const at::Tensor steps = half.view({rows, -1}).mul(2.0 / ((1 << bits) - 1));
  const int64_t elements = at::empty(sizes, at::kMeta).numel() / rows;
  return steps.repeat_interleave(1024, 1).narrow(1, 0, elements).reshape(sizes);
}

TEST(FrequencySplit, ErrsByAStepAtMostForAllSizes) {
  at::manual_seed(1);
  for (const Sizes& sizes : kSizes) {
    for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
      for (const int bits : {1, 2, 3, 8}) {
        const at::Tensor x = smooth(sizes).to(type);
        const CodecPointer codec = frequency_split(bits, 8);
        ASSERT_TRUE(codec->takes(x));
        const auto encoded = codec->encode(x, random_of(1));
        const at::Tensor error = encoded->decoded().view(sizes).to(at::kDouble) - x.to(at::kDouble);
        // What the type rounds once more.
        const double rounded = type == at::kBFloat16 ? 0x1p-8 : type == at::kHalf ? 0x1p-11 : 2e-7;
        const at::Tensor limit =
            steps_of(*encoded, sizes, bits) + x.to(at::kDouble).abs().max() * (2.0 * rounded);
        EXPECT_TRUE((error.abs() <= limit).all().item().toBool())
            << codec->name() << ' ' << x.sizes() << ' ' << type;
      }
    }
  }
}

TEST(FrequencySplit, HasTheMeansOfAlignedBlocksSmallerAtTheEnds) {
  at::manual_seed(2);
  for (const Sizes& sizes : kSizes) {
    for (const int64_t block : {1, 3, 8, 100}) {
      const at::Tensor x = smooth(sizes) + 5.0;
      const auto encoded = frequency_split(8, block)->encode(x, random_of(1));
      const at::Tensor& low = encoded->tensors()[0];
      EXPECT_EQ(low.scalar_type(), at::kBFloat16);
      at::Tensor every = means_of(x, block);
      for (int64_t i = 2; i < x.dim(); ++i) {
        EXPECT_EQ(low.size(i), (x.size(i) + block - 1) / block);
        every = every.slice(i, 0, std::nullopt, block);
      }
      EXPECT_TRUE(at::allclose(low.to(at::kDouble), every, 0x1p-8, 1e-6)) << x.sizes();
    }
  }
}

// As a mean takes off all that it can; DIVISION's own blocks do not where they are cut off.
TEST(FrequencySplit, LeavesNoMoreEnergyThanThereWas) {
  at::manual_seed(3);
  for (const Sizes& sizes : kSizes) {
    const at::Tensor x = at::randn(sizes);
    const double left = energy(x - means_of(x, 8));
    EXPECT_LE(left, energy(x));
    const auto encoded = frequency_split(8)->encode(x, random_of(1));
    const at::Tensor rest = x - means_of(x, 8).to(at::kBFloat16);
    EXPECT_LE(energy(rest), energy(x) * 1.0001) << x.sizes();
  }
  const at::Tensor x = smooth({4, 4, 14, 14});
  EXPECT_LT(energy(x - means_of(x, 8)), 0.5 * energy(x));
}

TEST(FrequencySplit, HasNoBias) {
  at::manual_seed(4);
  constexpr int64_t kDraws = 4000;
  for (const Sizes& sizes : {Sizes{1, 3, 9, 10}, {1, 2, 45}, {1, 1, 3, 9, 5}}) {
    for (const int bits : {1, 2, 4}) {
      const at::Tensor x = smooth(sizes) + 3.0;
      Sizes many = sizes;
      many[0] = kDraws;
      const at::Tensor xs = x.expand(many).contiguous();
      const auto encoded = frequency_split(bits)->encode(xs, random_of(1));
      const at::Tensor draws = encoded->decoded().view(many).to(at::kDouble);
      const at::Tensor steps = steps_of(*encoded, many, bits)[0];
      const at::Tensor above = (x[0] - draws[0]) / steps;
      const at::Tensor share = above - above.floor();
      const at::Tensor deviation = at::sqrt(share * (1.0 - share) / kDraws) * steps;
      const at::Tensor bias = (draws.mean(0) - x[0]).abs();
      EXPECT_TRUE((bias <= 5.0 * deviation + 1e-6).all().item().toBool()) << bits << sizes;
    }
  }
}

TEST(FrequencySplit, SpillsNothingIntoOtherChannels) {
  at::manual_seed(5);
  for (const auto type : {at::kHalf, at::kFloat}) {
    for (const int bits : {1, 2, 3, 8}) {
      const at::Tensor x = at::randn({2, 4, 7, 9}).to(type);
      at::Tensor wild = x.clone();
      wild.select(1, 2).copy_(at::linspace(-65504.0, 65504.0, 63).view({7, 9}));
      const at::Tensor tame = back(frequency_split(bits), x);
      const at::Tensor other = back(frequency_split(bits), wild);
      EXPECT_TRUE(at::isfinite(other).all().item().toBool());
      for (const int64_t channel : {0, 1, 3}) {
        EXPECT_TRUE(at::equal(tame.select(1, channel), other.select(1, channel)));
      }
      wild.select(1, 2).select(1, 3).fill_(NAN);
      const at::Tensor broken = back(frequency_split(bits), wild);
      EXPECT_TRUE(broken.select(1, 2).isnan().all().item().toBool());
      EXPECT_TRUE(at::equal(tame.select(1, 3), broken.select(1, 3)));
    }
  }
}

TEST(FrequencySplit, KeepsConstantChannels) {
  for (const double value : {0.0, 1.0, -0.3, 1e-30, 12345.678}) {
    for (const int bits : {1, 2, 8}) {
      const at::Tensor x = at::full({2, 3, 13, 10}, value);
      const at::Tensor again = back(frequency_split(bits), x);
      EXPECT_TRUE(at::allclose(again, x, 0x1p-15, 0.0)) << value;
    }
  }
  // Without means that bfloat16 could hold they are a group's.
  for (const at::Tensor& huge :
       {at::full({1, 1, 40}, 1e300, at::kDouble), at::full({1, 1, 40}, 3e38)}) {
    EXPECT_TRUE(at::allclose(back(frequency_split(2), huge), huge, 0x1p-7, 0.0));
  }
}

TEST(FrequencySplit, GivesElementsOfEveryLayoutWhereTheyWere) {
  at::manual_seed(6);
  const at::Tensor x = smooth({3, 4, 11, 9}), volume = smooth({2, 3, 4, 5, 9});
  const at::Tensor wanted = back(frequency_split(3), x);
  for (const at::Tensor& laid_out : {x.contiguous(at::MemoryFormat::ChannelsLast),
                                     x.permute({2, 0, 3, 1}).contiguous().permute({1, 3, 0, 2}),
                                     x.transpose(0, 3).contiguous().transpose(0, 3)}) {
    EXPECT_TRUE(at::equal(back(frequency_split(3), laid_out), wanted));
  }
  EXPECT_TRUE(
      at::equal(back(frequency_split(3), volume.contiguous(at::MemoryFormat::ChannelsLast3d)),
                back(frequency_split(3), volume)));
}

/// DIVISION's theorem 3A: what a convolution, a norm (4 bytes an element each) and a ReLU (1 byte)
/// keep, over two copies of ours and 1 bit.
double ratio(int64_t size, int bits) {
  constexpr int64_t kRows = 128;  // whose codes are multiples of 16 bytes
  const at::Tensor x = at::empty({kRows / 4, 4, size, size}, at::kMeta);
  const auto elements = static_cast<double>(size * size);
  const double kept = static_cast<double>(*bytes_ahead(*frequency_split(bits), x)) / kRows;
  return 9.0 * elements / (2.0 * kept + elements / 8.0);
}

TEST(FrequencySplit, KeepsTheBytesOfDivisionsTheorem) {
  for (const int64_t size : {7, 8, 14, 16, 32}) {
    for (const int bits : {1, 2, 4, 8}) {
      const auto elements = static_cast<double>(size * size);
      const auto blocks = static_cast<double>((size + 7) / 8 * ((size + 7) / 8));
      const double wanted =
          9.0 * elements / (2.0 * (2.0 * blocks + elements * bits / 8.0 + 4.0) + elements / 8.0);
      EXPECT_DOUBLE_EQ(ratio(size, bits), wanted);
    }
  }
  EXPECT_NEAR(ratio(7, 2), 10.346, 5e-4);
  EXPECT_NEAR(ratio(8, 2), 11.077, 5e-4);
  EXPECT_NEAR(ratio(32, 2), 12.944, 5e-4);
  // The theorem has 1.75 and 3.5 blocks a side where two and four are kept: 12.357 and 12.899;
  EXPECT_NEAR(ratio(14, 2), 12.041, 5e-4);
  EXPECT_NEAR(ratio(28, 2), 12.555, 5e-4);
  // and one pair of constants a channel, where ours have one for every 1,024 elements: 13.043 and
  // 13.079.
  EXPECT_NEAR(ratio(56, 2), 12.899, 5e-4);
  EXPECT_NEAR(ratio(112, 2), 12.935, 5e-4);
}

TEST(FrequencySplit, TakesRealNumbersWithChannelsAndAPlane) {
  const CodecPointer codec = frequency_split(2);
  EXPECT_EQ(text_of(*codec), "frequency split, 2 bits");
  for (const Sizes& sizes : {Sizes{}, {5}, {4, 5}, {4, 0, 3}, {1, 2, 3, 4, 5, 6}}) {
    EXPECT_FALSE(codec->takes(at::ones(sizes)));
  }
  EXPECT_FALSE(codec->takes(at::ones({2, 3, 4}, at::kLong)));
  EXPECT_TRUE(codec->takes(at::ones({2, 3, 4})));
  EXPECT_EQ(test::refusal([] { frequency_split(2, 0); }),
            "fewbit::codecs::frequency_split: block is 0, accepted: above 0");
}

}  // namespace fewbit::codecs::frequency_split_test
