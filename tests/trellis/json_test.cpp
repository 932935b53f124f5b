#include <gtest/gtest.h>

#include "base/error.hpp"
#include "trellis/trellis.hpp"

namespace fewbit::solver::trellis_json_test {

std::vector<TrellisQuantizer> sample() {
  return {{1, 4, {-1.25, -0.5, 0.5, 1.25}, 0.25}, {1, 8, {-1.5, -0.25, 0.25, 1.5}, 0.125}};
}

std::string message_for(const std::string& text) {
  try {
    trellises_from_json(text, "t.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// The sample's text with its first `from` replaced.
std::string message_with(const std::string& from, const std::string& to) {
  std::string text = to_json(sample());
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return message_for(text.replace(at, from.size(), to));
}

TEST(TrellisJson, ComesBack) {
  const auto back = trellises_from_json(to_json(sample()), "t.json");
  ASSERT_EQ(back.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back[i].bits, sample()[i].bits);
    EXPECT_EQ(back[i].states, sample()[i].states);
    EXPECT_EQ(back[i].levels, sample()[i].levels);
    EXPECT_EQ(back[i].error, sample()[i].error);
  }
}

TEST(TrellisJson, RefusesByName) {
  const std::string start = "t.json: holds no trellis quantisers: ";
  EXPECT_EQ(message_with("\"bits\": 1", "\"bits\": 5"), start + "5 bits: 1 to 4 are known");
  EXPECT_EQ(message_with("\"states\": 4", "\"states\": 6"), start + "6 states: 4 and 8 are known");
  EXPECT_EQ(message_with("-1.25, ", ""), start + "3 levels for 1 bits");
  EXPECT_EQ(message_with("-1.25", "-1.5"),
            start + "the levels of 1 bits are not ascending and symmetric");
  EXPECT_EQ(message_with("\"error\"", "\"other\": 1, \"error\""),
            start + "an entry has other keys than bits, states, levels, error");
  EXPECT_NE(message_for("[1, 2"), "accepted");
  EXPECT_NE(message_for("{\"a\": {}}"), "accepted");
}

}  // namespace fewbit::solver::trellis_json_test
