// Random numbers by torch's operations: the words of the kernels, and what is made of them.
#include "ops/random_words.hpp"

#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "kernels/philox.hpp"

namespace fewbit::random_words_test {

constexpr int64_t kSeed = 0x7edcba9876543210;

at::Tensor seed() {
  return at::full({1}, kSeed, at::kLong);
}

TEST(RandomWords, AreThoseOfTheKernels) {
  for (const int64_t offset : {int64_t{0}, int64_t{1}, int64_t{0x123456789abcdef}}) {
    for (const int64_t count : {1, 4, 7, 1000}) {
      const at::Tensor words = ops::random_words(seed(), offset, count);
      ASSERT_EQ(words.numel(), count);
      for (int64_t i = 0; i < count; ++i) {
        const auto expected =
            kernels::philox(static_cast<uint64_t>(i / 4), static_cast<uint64_t>(offset), kSeed);
        ASSERT_EQ(words[i].item<int64_t>(), int64_t{expected.word[i % 4]}) << i;
      }
    }
  }
}

TEST(RandomBits, AreThoseOfTheWords) {
  const at::Tensor bits = ops::random_bits(seed(), 3, 100);
  const at::Tensor words = ops::random_words(seed(), 3, 4);
  ASSERT_EQ(bits.numel(), 100);
  for (int64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(bits[i].item<int>(), words[i / 32].item<int64_t>() >> (i % 32) & 1) << i;
  }
}

// Moments of a million numbers: four deviations of their means.
TEST(RandomNormals, AreNormal) {
  constexpr int64_t kCount = 1000001;
  const at::Tensor x = ops::random_normals(seed(), 0, kCount).to(at::kDouble);
  ASSERT_EQ(x.numel(), kCount);
  EXPECT_NEAR(x.mean().item<double>(), 0.0, 4.0 * 1e-3);
  EXPECT_NEAR(x.square().mean().item<double>(), 1.0, 4.0 * 1.4e-3);
  EXPECT_NEAR(x.pow(3).mean().item<double>(), 0.0, 4.0 * 3.9e-3);
  EXPECT_NEAR(x.pow(4).mean().item<double>(), 3.0, 4.0 * 9.8e-3);
  // The two of a pair, and neighbouring pairs.
  for (const int64_t lag : {1, 2}) {
    const at::Tensor product = x.slice(0, 0, kCount - lag) * x.slice(0, lag);
    EXPECT_NEAR(product.mean().item<double>(), 0.0, 4.0 * 1e-3) << lag;
  }
}

TEST(RandomIntegers, AreAsLikelyAsEachOther) {
  constexpr int64_t kCount = 70000;
  const at::Tensor x = ops::random_integers(seed(), 0, 7, kCount);
  const at::Tensor counts = at::bincount(x, {}, 7);
  ASSERT_EQ(counts.numel(), 7);
  for (int64_t i = 0; i < 7; ++i) EXPECT_NEAR(counts[i].item<double>(), 10000.0, 4.0 * 93.0) << i;
}

}  // namespace fewbit::random_words_test
