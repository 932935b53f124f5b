#include "kernels/philox.hpp"

#include <gtest/gtest.h>

namespace fewbit::kernels::philox_test {

// The known answers that Random123 publishes for philox4x32, 10 rounds.
TEST(Philox, GivesThePublishedWordsForZeros) {
  const PhiloxWords words = philox(0, 0, 0);
  EXPECT_EQ(words.word[0], 0x6627e8d5u);
  EXPECT_EQ(words.word[1], 0xe169c58du);
  EXPECT_EQ(words.word[2], 0xbc57ac4cu);
  EXPECT_EQ(words.word[3], 0x9b00dbd8u);
}

TEST(Philox, GivesThePublishedWordsForOnes) {
  const PhiloxWords words = philox(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0});
  EXPECT_EQ(words.word[0], 0x408f276du);
  EXPECT_EQ(words.word[1], 0x41c83b0eu);
  EXPECT_EQ(words.word[2], 0xa20bc7c6u);
  EXPECT_EQ(words.word[3], 0x6d5451fdu);
}

TEST(Philox, GivesThePublishedWordsForDigitsOfPi) {
  const PhiloxWords words = philox(0x85a308d3243f6a88u, 0x0370734413198a2eu, 0x299f31d0a4093822u);
  EXPECT_EQ(words.word[0], 0xd16cfe09u);
  EXPECT_EQ(words.word[1], 0x94fdccebu);
  EXPECT_EQ(words.word[2], 0x5001e420u);
  EXPECT_EQ(words.word[3], 0x24126ea1u);
}

TEST(Philox, FourNeighboursShareOneBlockOfWords) {
  const PhiloxState state{12, 34};
  const PhiloxWords words = philox(25, 34, 12);
  for (uint64_t k = 0; k < 4; ++k) {
    EXPECT_EQ(uniform(state, 100 + k), static_cast<float>(words.word[k] >> 8) * 0x1p-24f);
  }
}

}  // namespace fewbit::kernels::philox_test
