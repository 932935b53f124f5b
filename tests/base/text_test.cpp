#include "base/text.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace fewbit::text_test {

std::string refusal(std::string_view text) {
  try {
    parse_number(text, "tau");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Shortest, WritesTheFewestDigits) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(-10.0), "-10");
  EXPECT_EQ(shortest(1e-9), "1e-09");
  EXPECT_EQ(shortest(1.0 / 3.0), "0.3333333333333333");
  EXPECT_EQ(shortest(-0.0), "-0");
  EXPECT_EQ(shortest(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(Shortest, ReadsBackAsTheSameBitsForAnyBits) {
  std::mt19937_64 bits(1);
  int finite = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<double>(bits());
    if (std::isnan(value)) continue;
    ++finite;
    const double again = parse_number(shortest(value), "value");
    ASSERT_EQ(std::bit_cast<uint64_t>(again), std::bit_cast<uint64_t>(value)) << value;
  }
  EXPECT_GT(finite, 199000);
}

TEST(ParseNumber, AcceptsWhatPeopleWrite) {
  EXPECT_EQ(parse_number("1", "v"), 1.0);
  EXPECT_EQ(parse_number("+.5", "v"), 0.5);
  EXPECT_EQ(parse_number("-1e-3", "v"), -1e-3);
  EXPECT_EQ(parse_number("1.", "v"), 1.0);
  EXPECT_EQ(parse_number("-inf", "v"), -HUGE_VAL);
  EXPECT_EQ(parse_number("inf", "v"), HUGE_VAL);
}

TEST(ParseNumber, RefusesAnythingElseByName) {
  for (const char* text : {"", " 1", "1 ", "1,5", "0x10", "--1", "+-1", "++1", "+", "1e", "nan"}) {
    EXPECT_EQ(refusal(text), "tau: '" + std::string(text) + "' is not a number");
  }
  EXPECT_EQ(refusal(std::string_view("1\0", 2)).substr(0, 8), "tau: '1");
}

TEST(ParseNumber, RefusesOverflowAndUnderflow) {
  EXPECT_EQ(refusal("1e400"), "tau: '1e400' is beyond the range of double precision");
  EXPECT_EQ(refusal("1e-400"), "tau: '1e-400' is beyond the range of double precision");
}

TEST(NearestNames, AreOrderedByDistanceAndAtMostThree) {
  const std::vector<std::string> known{"gelu", "celu", "elu", "selu", "softplus"};
  EXPECT_EQ(nearest_names("geluu", known), (std::vector<std::string>{"gelu", "celu", "elu"}));
  EXPECT_EQ(nearest_names("sofplus", known), (std::vector<std::string>{"softplus"}));
}

TEST(NearestNames, AreNoneWhenNothingIsNear) {
  EXPECT_TRUE(nearest_names("convolution", {"gelu", "tanh"}).empty());
  EXPECT_TRUE(nearest_names("gelu", {}).empty());
}

TEST(Error, PutsFileAndFieldBeforeTheMessage) {
  const Error error("is bad", "t.json", "levels");
  EXPECT_STREQ(error.what(), "t.json: levels: is bad");
  EXPECT_EQ(error.file(), "t.json");
  EXPECT_EQ(error.field(), "levels");
  EXPECT_STREQ(Error("is bad").what(), "is bad");
}

TEST(Counted, OneIsSingular) {
  EXPECT_EQ(counted(0, "level"), "0 levels");
  EXPECT_EQ(counted(1, "level"), "1 level");
  EXPECT_EQ(counted(2, "level"), "2 levels");
}

}  // namespace fewbit::text_test
