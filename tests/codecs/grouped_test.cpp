// The codec of groups with bits by sample.
#include <gtest/gtest.h>

#include "tests/codecs/support.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::codecs::grouped_test {

at::Tensor bits_of(std::vector<int64_t> bits) {
  return at::tensor(bits).to(at::kByte);
}

TEST(GroupedSamples, AreNamedByTheirAverage) {
  EXPECT_EQ(grouped(bits_of({1, 2, 2, 4}))->name(), "group, 2.25 bits by sample");
  EXPECT_EQ(grouped(bits_of({2, 2}))->name(), "group, 2 bits by sample");
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

}  // namespace fewbit::codecs::grouped_test
