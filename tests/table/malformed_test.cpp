#include <functional>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "sample_table.hpp"
#include "table/json.hpp"

namespace fewbit::solver::malformed_test {
std::string message_for(const std::string& text) {
  try {
    from_json(text, "t.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), "t.json");
    return error.what();
  }
  return "accepted";
}

/// The sample's text with its one `from` replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = to_json(sample_table());
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

struct Fault {
  const char* from;
  const char* to;
  const char* message;
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.message;
}

class MalformedTable : public testing::TestWithParam<Fault> {};

TEST_P(MalformedTable, GetsItsMessage) {
  const Fault& fault = GetParam();
  EXPECT_EQ(message_for(changed(fault.from, fault.to)), std::string("t.json: ") + fault.message);
}

const Fault kFaults[] = {
    {"\"schema\": 1", "\"schema\": 2", "schema: 2 is not known, 1 is"},
    {"\"schema\": 1", "\"schema\": 1, \"schema\": 1", "schema: key appears twice"},
    {"\"schema\": 1", "\"schema\": 1, \"extra\": 1", "extra: unknown key"},
    {"\"size\": 4,", "", "size: is missing"},
    {"\"name\": \"elu\"", "\"name\": \"\"", "function.name: is empty"},
    {"\"name\": \"elu\"", "\"name\": 3", "function.name: must be a text, not number"},
    {"\"alpha\": 0.5", "\"alpha\": \"0.5\"",
     "function.parameters.alpha: must be a number, not string"},
    {"\"form\": \"levels\"", "\"form\": \"level\"",
     "form: 'level' is none of intervals, levels, unbiased"},
    {"\"objective\": \"squared\"", "\"objective\": \"cubed\"",
     "objective: must be \"squared\" or {\"smoothed\": ...}"},
    {"\"objective\": \"squared\"", "\"objective\": {\"smoothed\": {\"tau\": 0.5}}",
     "objective.smoothed.lambda: is missing"},
    {"\"objective\": \"squared\"", "\"objective\": {\"smoothed\": {\"tau\": 2, \"lambda\": 0}}",
     "objective.smoothed.tau: 2 is not between 0 and 1"},
    {"\"bits\": 2", "\"bits\": 3", "bits: 3, but 3 levels take 2"},
    {"\"bits\": 2", "\"bits\": 2.0", "bits: must be a whole number, not number"},
    {"\"size\": 4", "\"size\": 257", "size: 257 is not from 2 to 256"},
    {"\"size\": 4", "\"size\": 1e99", "size: must be a whole number, not number"},
    {"\"size\": 4", "\"size\": 99999999999", "size: is out of range"},
    {"\"size\": 4", "\"size\": 2", "levels: 3 levels, but from 1 to 2 are possible"},
    {"[-10, 10]", "[10, -10]", "domain: 10 is not below -10"},
    {"[-10, 10]", "[-10]", "domain: must have two ends"},
    {"[-10, 10]", "[\"-1\", 10]", "domain[0]: must be a number, \"-inf\" or \"inf\", not string"},
    {"\"kind\": \"normal\"", "\"edges\": [1, 2], \"kind\": \"normal\"",
     "weight.edges: only a histogram has edges"},
    {"\"normal\"", "\"histogram\", \"edges\": [0, 1], \"masses\": [1, 1]",
     "weight.edges: 2 edges for 2 masses: one more needed"},
    {"\"kind\": \"normal\"", "\"values\": [1, 2], \"kind\": \"normal\"",
     "weight.values: only samples have values"},
    {"\"normal\"", "\"samples\", \"values\": [0, 1], \"masses\": [1]",
     "weight.values: 2 values for 1 masses: as many needed"},
    {"\"normal\"", "\"samples\", \"values\": [1, 1], \"masses\": [1, 1]",
     "weight.values[1]: 1 after 1: values must ascend and differ"},
    {"\"normal\"", "\"histogram\", \"edges\": [0, 1], \"masses\": [-1]",
     "weight.masses[0]: -1 is not a finite number from 0 up"},
    {"\"normal\"", "\"histogram\", \"units\": [[1, 2]]",
     "weight.units[0]: must be [mean, spread, mass]"},
    {"-2.5, -0.1", "-2.5, -2.5", "thresholds[1]: -2.5 after -2.5: values must ascend and differ"},
    {"-2.5, -0.1", "-0.1", "codes: 5 codes for 3 thresholds: one more needed"},
    {"-2.5, -0.1", "-2.5, \"-0.1\"", "thresholds[1]: must be a number, not string"},
    {"\"none\"", "\"even\"", "thresholds[0]: -2.5: thresholds of |x| must be positive"},
    {"[0, 1, 2, 1, 0]", "[0, 1, 3, 1, 0]", "codes[2]: 3 is not from 0 to 2"},
    {"[0, 1, 2, 1, 0]", "[0, 1, -1, 1, 0]", "codes[2]: -1 is not from 0 to 2"},
    {"[0, 1, 2, 1, 0]", "[0, 1, 1, 2, 0]", "codes[2]: 1 twice in a row"},
    {"[0, 1, 2, 1, 0]", "[0, 1, 0, 1, 0]", "levels[2]: no code names this level"},
    {"[0, 1, 2, 1, 0]", "[0, 1, 2, 1, 0.0]", "codes[4]: must be a whole number, not number"},
    {"\"form\": \"levels\"", "\"form\": \"intervals\"", "codes: 5 intervals, but 4 are possible"},
    {"\"form\": \"levels\"", "\"form\": \"unbiased\"", "thresholds: the unbiased form has none"},
    {"0.75]", "0.2]", "levels[2]: 0.2 after 0.3333333333333333: values must ascend and differ"},
    {"0.015625", "-1", "error: -1 is not a finite number from 0 up"},
    {"0.0156,", "0.0157,", "lower_bound: 0.0157 is above the error 0.015625"},
    {"0.0016", "1.5", "relative_gap: 1.5 is above 1"},
    {"\"solver\": \"0.1.0\"", "\"solver\": null", "solver: must be a text, not null"},
};

INSTANTIATE_TEST_SUITE_P(Faults, MalformedTable, testing::ValuesIn(kFaults));

TEST(MalformedText, TooManyLevelsAreNamed) {
  Table table = sample_table();
  table.problem.form = Form::unbiased;
  table.thresholds.clear();
  table.codes.clear();
  table.levels.clear();
  for (int i = 0; i < 300; ++i) table.levels.push_back(i);
  EXPECT_EQ(message_for(to_json(table)),
            "t.json: levels: 300 levels, but from 2 to 4 are possible");
}

TEST(MalformedText, EveryTruncationIsRejected) {
  const std::string text = to_json(sample_table());
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    const std::string message = message_for(text.substr(0, length));
    EXPECT_EQ(message.find("t.json: not a JSON text: "), 0u) << length << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(MalformedText, TrailingTextIsRejected) {
  EXPECT_EQ(message_for(to_json(sample_table()) + "x").find("t.json: not a JSON text: "), 0u);
}

TEST(MalformedText, NumbersBeyondDoubleAreRejected) {
  for (const char* number : {"1e999", "-1e999", "NaN", "inf"}) {
    EXPECT_NE(message_for(changed("0.75", number)), "accepted") << number;
  }
}

TEST(MalformedText, MillionsOfBracketsAreOneShortError) {
  const std::string deep(size_t{50} << 20, '[');
  EXPECT_EQ(message_for(deep), "t.json: nested deeper than 8 levels, a table is not");
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_EQ(message_for(objects), "t.json: nested deeper than 8 levels, a table is not");
}

TEST(MalformedText, OtherDocumentsAreNoTables) {
  EXPECT_EQ(message_for("[]"), "t.json: must be an object, not array");
  EXPECT_EQ(message_for("{}"), "t.json: schema: is missing");
  EXPECT_EQ(message_for("1"), "t.json: must be an object, not number");
}
}  // namespace fewbit::solver::malformed_test
