// Codecs that lose nothing of what they are for.
#include <gtest/gtest.h>

#include "tests/codecs/support.hpp"

namespace fewbit::codecs::exact_test {

TEST(Identity, GivesEveryTypeBackInTheOrderOfMemory) {
  EXPECT_EQ(identity()->name(), "identity");
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble, at::kLong, at::kBool,
                          at::kComplexFloat, at::kFloat8_e5m2}) {
    const at::Tensor x =
        at::randn({2, 3, 4, 5}).to(type).contiguous(at::MemoryFormat::ChannelsLast);
    ASSERT_TRUE(identity()->takes(x));
    const auto encoded = identity()->encode(x, random_of(1));
    EXPECT_EQ(bytes_of(*encoded), x.nbytes());
    const at::Tensor back = encoded->decoded().as_strided(x.sizes(), x.strides());
    EXPECT_EQ(back.scalar_type(), type);
    EXPECT_TRUE(at::equal(run_of(back).view(at::kByte), run_of(x).view(at::kByte)));
  }
  EXPECT_EQ(coded(identity(), at::empty({0, 3})).numel(), 0);
}

TEST(Identity, IsOfTheValueThatItWasGiven) {
  const at::Tensor x = at::ones({100});
  const auto encoded = identity()->encode(x, random_of(1));
  x.zero_();
  encoded->decoded().zero_();
  EXPECT_TRUE(at::equal(encoded->decoded(), at::ones({100})));
}

TEST(IntegersBelow, TakeTheBitsOfTheBoundAndRefuseWhatIsNotBelow) {
  const at::Tensor x = at::arange(200).flip(0);
  const auto encoded = integers_below(200)->encode(x, random_of(1));
  EXPECT_EQ(bytes_of(*encoded), 208U);  // 8 bits
  EXPECT_TRUE(at::equal(encoded->decoded(), x));
  EXPECT_EQ(bytes_of(*integers_below(1)->encode(at::zeros({300}, at::kLong), random_of(1))), 0U);
  EXPECT_THROW(integers_below(100)->encode(x, random_of(1)), c10::Error);
  EXPECT_THROW(integers_below(0), c10::Error);
}

// Of every pooling: the indices come back, and pooling by them gives the same again.
TEST(Places, AreIndicesIntoTheWindow) {
  at::manual_seed(1);
  struct Pooling {
    std::vector<int64_t> kernel, stride, padding, dilation;
    int bits;
  };
  for (const Pooling& pooling : {Pooling{{2, 2}, {2, 2}, {0, 0}, {1, 1}, 2},
                                 {{3, 3}, {2, 2}, {1, 1}, {1, 1}, 4},
                                 {{1, 5}, {3, 1}, {0, 2}, {1, 2}, 3},
                                 {{3, 2}, {1, 2}, {1, 1}, {2, 3}, 3},
                                 {{13, 17}, {13, 17}, {0, 0}, {1, 1}, 8},
                                 // Wider than the plane: places share an offset.
                                 {{3, 25}, {1, 1}, {1, 12}, {1, 1}, 7}}) {
    for (const bool is_ceiled : {false, true}) {
      for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
        const at::Tensor x = at::randn({2, 3, 13, 17}).contiguous(format);
        const at::Tensor indices = std::get<1>(at::max_pool2d_with_indices(
            x, pooling.kernel, pooling.stride, pooling.padding, pooling.dilation, is_ceiled));
        const CodecPointer codec =
            places({{13, 17}, pooling.kernel, pooling.stride, pooling.padding, pooling.dilation});
        ASSERT_TRUE(codec->takes(indices));
        const auto encoded = codec->encode(indices, random_of(1));
        EXPECT_TRUE(
            at::equal(encoded->decoded().as_strided(indices.sizes(), indices.strides()), indices));
        EXPECT_EQ(bytes_of(*encoded), (indices.numel() * pooling.bits + 127) / 128 * 16);
        EXPECT_EQ(bytes_ahead(*codec, indices), bytes_of(*encoded));
      }
    }
  }
  const at::Tensor volume = at::randn({3, 6, 7, 8});  // no batch
  const at::Tensor indices =
      std::get<1>(at::max_pool3d_with_indices(volume, {2, 3, 2}, {2, 2, 2}, {1, 1, 0}));
  const auto encoded = places({{6, 7, 8}, {2, 3, 2}, {2, 2, 2}, {1, 1, 0}, {1, 1, 1}})
                           ->encode(indices, random_of(1));
  EXPECT_TRUE(at::equal(encoded->decoded().view(indices.sizes()), indices));
  EXPECT_THROW(places({{6, 7}, {2, 2}, {2, 2}, {0, 0}, {1}}), c10::Error);
}

}  // namespace fewbit::codecs::exact_test
