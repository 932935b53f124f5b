// What the runtime says to tables that are none, or of something else.

#include <cmath>
#include <fstream>
#include <utility>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::table_test {

using test::refusal;

/// A solved table's file text with its one `from` replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = Table::standard("elu", Bits{2}, {0.7}).data().json;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TableData data() {
  return Table::builtin("gelu", "levels_normal_b2").data();
}

TEST(Table, OfABuiltinNameIsRefusedForFunctionsThatHaveNone) {
  EXPECT_EQ(refusal([] { Table::builtin("relu", "levels_normal_b2"); }).substr(0, 76),
            "fewbit::Table: relu has no built-in table 'levels_normal_b2', accepted: leve");
  EXPECT_EQ(refusal([] { Table::builtin("gelo", "levels_normal_b2"); }),
            "fewbit::Table: unknown function 'gelo'");
}

TEST(Table, OfAFileFromAnotherSchemaOrFunctionIsRefusedByField) {
  const auto load = [](const std::string& text) {
    const std::string path = testing::TempDir() + "fewbit_other_table.json";
    std::ofstream(path) << text;
    const std::string message = refusal([&] { Table::load(path); });
    const size_t at = message.find(path);
    return at == std::string::npos ? message : message.substr(at + path.size());
  };
  EXPECT_EQ(load(changed("\"schema\": 1", "\"schema\": 2")), ": schema: 2 is not known, 1 is");
  EXPECT_EQ(load(changed("\"form\": \"levels\"", "\"form\": \"splines\"")),
            ": form: 'splines' is none of intervals, levels, unbiased");
  EXPECT_EQ(load(changed("\"schema\": 1,", "")), ": schema: is missing");
  EXPECT_NE(load("{\"some\": \"other file\"}"), "accepted");
  EXPECT_NE(load(""), "accepted");
  EXPECT_EQ(load(changed("\"schema\": 1", "\"schema\":    1")), "accepted");
}

TEST(Table, OfCountsOrderOrCodesThatDoNotAgreeIsRefused) {
  const auto with = [](const auto& change) {
    TableData changed_data = data();
    change(changed_data);
    return refusal([&] { Table{changed_data}; });
  };
  EXPECT_EQ(with([](TableData&) {}), "accepted");
  EXPECT_NE(with([](TableData& d) { d.levels.resize(1); }), "accepted");
  EXPECT_NE(with([](TableData& d) { d.levels[1] = NAN; }), "accepted");
  EXPECT_NE(with([](TableData& d) { std::swap(d.levels[0], d.levels[3]); }), "accepted");
  EXPECT_NE(with([](TableData& d) { d.thresholds.pop_back(); }), "accepted");
  EXPECT_NE(with([](TableData& d) { d.thresholds[0] = NAN; }), "accepted");
  EXPECT_NE(with([](TableData& d) { d.thresholds.front() = 100; }), "accepted");
  EXPECT_NE(with([](TableData& d) { d.interval_codes[0] = 4; }), "accepted");
}

TEST(Table, OfAFunctionThatHasNoKernelsIsRefusedByTheOperation) {
  TableData unknown = data();
  unknown.function = "gelo";
  EXPECT_EQ(refusal([&] { activation(at::ones({3}), Table(unknown)); }),
            "fewbit::activation_value: unknown function 'gelo'");
}

}  // namespace fewbit::table_test
