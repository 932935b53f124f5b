// The emitted header of an unbiased table.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "emitted/silu_unbiased.hpp"

namespace fewbit::unbiased_test {

namespace silu = emitted::silu_unbiased;

TEST(Philox, MatchesThePublishedVectors) {
  uint32_t words[4];
  silu::philox(0, 0, words);
  EXPECT_EQ(words[0], 0x6627e8d5u);
  EXPECT_EQ(words[1], 0xe169c58du);
  EXPECT_EQ(words[2], 0xbc57ac4cu);
  EXPECT_EQ(words[3], 0x9b00dbd8u);
}

TEST(Random, DependsOnTheElementNotOnTheOrder) {
  silu::Random forward(7);
  silu::Random backward(7);
  std::vector<float> first;
  for (uint64_t i = 0; i < 64; ++i) first.push_back(forward.uniform(i));
  for (uint64_t i = 64; i-- > 0;) EXPECT_EQ(backward.uniform(i), first[i]);
  EXPECT_TRUE(std::all_of(first.begin(), first.end(), [](float u) { return u >= 0 && u < 1; }));
}

TEST(Unbiased, TakesOneOfTheTwoLevelsAroundTheDerivative) {
  for (float x = -12.0f; x <= 12.0f; x += 0.01f) {
    const float slope = std::clamp(silu::derivative(x), silu::decode(0), silu::decode(3));
    const unsigned low = silu::encode(x, 0x1.fffffep-1f);
    const unsigned high = silu::encode(x, 0.0f);
    EXPECT_LE(silu::decode(low), slope);
    EXPECT_GE(silu::decode(high), slope);
    EXPECT_LE(high - low, 1u);
  }
}

TEST(Unbiased, HasTheDerivativeAsItsMean) {
  constexpr size_t kDraws = 100000;
  for (const float x : {-2.0f, -0.3f, 0.4f, 1.1f, 2.5f}) {
    const std::vector<float> inputs(kDraws, x);
    std::vector<float> y(kDraws);
    std::vector<float> slopes(kDraws, 1.0f);
    std::vector<uint8_t> codes(silu::code_bytes(kDraws));
    silu::forward(inputs.data(), y.data(), codes.data(), kDraws, 12345, 0);
    silu::backward(slopes.data(), codes.data(), slopes.data(), kDraws);
    double mean = 0.0;
    for (const float slope : slopes) mean += static_cast<double>(slope) / kDraws;
    // Levels are 0.42 apart: at most 0.21 per draw, five standard errors.
    EXPECT_NEAR(mean, silu::derivative(x), 5 * 0.21 / std::sqrt(kDraws)) << "x = " << x;
  }
}

TEST(Unbiased, OffsetContinuesTheStream) {
  std::vector<float> x(100);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.03f * static_cast<float>(i) - 1.5f;
  std::vector<float> y(100);
  std::vector<uint8_t> whole(silu::code_bytes(100));
  std::vector<uint8_t> rest(silu::code_bytes(60));
  silu::forward(x.data(), y.data(), whole.data(), 100, 3, 0);
  silu::forward(x.data() + 40, y.data(), rest.data(), 60, 3, 40);
  EXPECT_TRUE(std::equal(rest.begin(), rest.begin() + 15, whole.begin() + 10));
}

TEST(Unbiased, GivesNanCodeZero) {
  EXPECT_EQ(silu::encode(NAN, 0.0f), 0u);
}

}  // namespace fewbit::unbiased_test
