// The codec of groups with bits by sample.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/codecs/support.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::codecs::grouped_test {

at::Tensor bits_of(std::vector<int64_t> bits) {
  return at::tensor(bits).to(at::kByte);
}

TEST(GroupedSamples, AreNamedByTheirAverage) {
  EXPECT_EQ(text_of(*grouped(bits_of({1, 2, 2, 4}))), "group by sample, 2.25 bits");
  EXPECT_EQ(text_of(*grouped(bits_of({2, 2}))), "group by sample, 2 bits");
}

TEST(GroupedSamples, GiveEachSampleAsTheCodecOfItsBitsDoes) {
  at::manual_seed(3);
  const at::Tensor bits = bits_of({3, 1, 8});
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    for (const int64_t count : {1, 50, 1000}) {
      const at::Tensor x = at::randn({3, count}).to(type);
      const at::Tensor back = grouped(bits, 64)->encode(x, random_of(7, 5))->decoded();
      EXPECT_EQ(back.sizes(), at::IntArrayRef({3 * count}));
      for (int64_t i = 0; i < 3; ++i) {
        const int own = static_cast<int>(bits[i].item().toLong());
        const auto alone = grouped(own, 64)->encode(x[i], random_of(7, 5 + (i << 32)));
        EXPECT_TRUE(at::equal(back.slice(0, i * count, (i + 1) * count), alone->decoded()));
      }
    }
  }
}

TEST(GroupedSamples, KeepCodesConstantsAndBitsAndNothingElse) {
  const at::Tensor x = at::randn({3, 1000});
  const auto encoded = grouped(bits_of({2, 1, 4}), 256)->encode(x, random_of(1));
  // 1000 elements take 250, 125 and 500 bytes, each rounded up to 16, and 4 groups a sample.
  EXPECT_EQ(bytes_of(*encoded), 256 + 128 + 512 + 3 * 4 * 4 + 3);
}

TEST(GroupedSamples, ComeBackInTheOrderOfMemory) {
  const at::Tensor x = at::randn({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor back = coded(grouped(bits_of({8, 8})), x).as_strided(x.sizes(), x.strides());
  EXPECT_TRUE(at::allclose(back, x, 0.0, 0.05));
}

TEST(GroupedSamples, AreOfBitsThatNobodyChangesAfterwards) {
  const at::Tensor bits = bits_of({8, 8});
  const CodecPointer codec = grouped(bits);
  bits.fill_(1);
  const at::Tensor x = at::randn({2, 100});
  EXPECT_TRUE(at::allclose(coded(codec, x), run_of(x), 0.0, 0.05));
}

TEST(GroupedSamples, TakeWholeSamplesOfRealNumbersOnly) {
  const CodecPointer codec = grouped(bits_of({1, 2, 3}));
  EXPECT_TRUE(codec->takes(at::ones({3})));
  EXPECT_TRUE(codec->takes(at::ones({3, 5})));
  EXPECT_TRUE(codec->takes(at::ones({3, 0})));
  EXPECT_FALSE(codec->takes(at::ones({4, 5})));
  EXPECT_FALSE(codec->takes(at::ones({})));
  EXPECT_FALSE(codec->takes(at::ones({5, 3}).t()));  // samples are not whole in memory
  EXPECT_FALSE(codec->takes(at::ones({3, 5}, at::kLong)));
}

TEST(GroupedSamples, RefuseOtherBits) {
  EXPECT_EQ(test::refusal([] {
              grouped(bits_of({2, 0}));
            }),
            "fewbit::group_sample_bytes: bits[1] is 0, accepted: 1 to 8");
  EXPECT_EQ(test::refusal([] { grouped(at::ones({2})); }),
            "fewbit::group_sample_bytes: bits is a 1-d tensor of Float, accepted: contiguous 1-d "
            "uint8");
}

/// What ActNN's allocation lowers: squared ranges over squared steps, summed over samples.
double expected_error(const std::vector<double>& ranges, const std::vector<int>& bits) {
  double sum = 0.0;
  for (size_t i = 0; i < bits.size(); ++i) sum += ranges[i] * std::pow((1 << bits[i]) - 1, -2);
  return sum;
}

// Against every way to give three samples nine bits.
TEST(GroupedBySample, SpendItsBitsWhereTheyTakeMostOff) {
  at::manual_seed(4);
  for (const double spread : {0.1, 1.0, 3.0}) {
    const at::Tensor x = at::randn({3, 192}) * at::randn({3, 1}).mul(spread).exp();
    std::vector<double> ranges;
    for (int64_t i = 0; i < 3; ++i) {
      const at::Tensor groups = x[i].view({3, 64});
      ranges.push_back((groups.amax(1) - groups.amin(1)).pow(2).sum().item<double>());
    }
    const auto encoded = grouped_by_sample(3.0, 64)->encode(x, random_of(1));
    const at::Tensor given = encoded->tensors()[2];
    std::vector<int> bits;
    for (int64_t i = 0; i < 3; ++i) bits.push_back(given[i].item<uint8_t>());
    EXPECT_EQ(bits[0] + bits[1] + bits[2], 9);
    double least = 1e300;
    for (int a = 1; a < 8; ++a) {
      for (int b = 1; b <= 8 - a; ++b) {
        if (9 - a - b <= 8) least = std::min(least, expected_error(ranges, {a, b, 9 - a - b}));
      }
    }
    EXPECT_LE(expected_error(ranges, bits), least * (1 + 1e-6)) << spread;
  }
}

TEST(GroupedBySample, NeverSpendsMoreThanItsAverage) {
  at::manual_seed(5);
  for (const double bits : {1.0, 1.25, 2.1, 2.5, 7.9, 8.0}) {
    for (const int64_t samples : {1, 2, 10, 33}) {
      const at::Tensor x = at::randn({samples, 100});
      const auto given = grouped_by_sample(bits)->encode(x, random_of(1))->tensors()[2];
      EXPECT_EQ(given.sum().item<int64_t>(),
                static_cast<int64_t>(bits * static_cast<double>(samples) + 1e-9));
      EXPECT_TRUE(given.ge(1).all().item<bool>() && given.le(8).all().item<bool>());
    }
  }
}

/// The bits that samples get whose ranges are 1 to 64 times `scale`.
at::Tensor bits_at(double scale, at::ScalarType type) {
  at::manual_seed(6);
  const at::Tensor sizes = at::arange(7, at::kDouble).exp2().unsqueeze(1);
  const at::Tensor x = at::randn({7, 256}, at::kDouble).mul(sizes).mul(scale).to(type);
  return grouped_by_sample(4.0, 64)->encode(x, random_of(1))->tensors()[2];
}

// Squares of all of these leave the range of floats, of the last two that of doubles.
TEST(GroupedBySample, SpendTheSameBitsAtEveryScale) {
  const at::Tensor bits = bits_at(1.0, at::kDouble);
  EXPECT_LT(bits[0].item<uint8_t>(), bits[6].item<uint8_t>());
  for (const double scale : {1e-40, 1e-25, 1e-20, 1.0, 1e25, 1e35}) {
    EXPECT_TRUE(at::equal(bits_at(scale, at::kFloat), bits)) << scale;
    EXPECT_TRUE(at::equal(bits_at(scale, at::kDouble), bits)) << scale;
  }
  EXPECT_TRUE(at::equal(bits_at(1e-36, at::kBFloat16), bits_at(1.0, at::kBFloat16)));
  EXPECT_TRUE(at::equal(bits_at(1e-310, at::kDouble), bits));
  EXPECT_TRUE(at::equal(bits_at(1e305, at::kDouble), bits));
}

TEST(GroupedBySample, TakesSamplesWithoutNumbersToo) {
  at::Tensor x = at::randn({4, 300});
  x[1].fill_(std::numeric_limits<float>::quiet_NaN());
  x[2].fill_(2.0F);
  const at::Tensor back = coded(grouped_by_sample(2.0), x).view({4, 300});
  EXPECT_TRUE(back[1].isnan().all().item<bool>());
  EXPECT_TRUE(at::equal(back[2], x[2]));
  const at::Tensor turned = at::randn({300, 4}).t();  // samples are not whole in memory
  EXPECT_TRUE(at::equal(coded(grouped_by_sample(2.5), turned), coded(grouped(2), turned)));
  EXPECT_EQ(test::refusal([] { grouped_by_sample(0.5); }),
            "fewbit::grouped_by_sample: bits is 0.5, accepted: 1 to 8");
}

}  // namespace fewbit::codecs::grouped_test
