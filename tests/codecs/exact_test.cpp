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

}  // namespace fewbit::codecs::exact_test
