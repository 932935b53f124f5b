#include <nlohmann/json.hpp>

#include "table/json.hpp"
#include "tests/cli/program.hpp"

namespace fewbit::sizes_test {

using Sizes = Program;
using testing::HasSubstr;

TEST_F(Sizes, TextHoldsEveryTableAndThenAllBesideEachOther) {
  const std::string text = run("--fn gelu --bits 1-3").out;
  for (const char* part : {"\n1 bit, 1 threshold\n", "\n2 bits, 3 thresholds\n",
                           "\n3 bits, 9 thresholds\n", "\nall sizes\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, HasSubstr(run("--fn gelu --bits 2").out));
  EXPECT_THAT(run("--fn gelu --bits 2").out, testing::Not(HasSubstr("all sizes")));
}

TEST_F(Sizes, JsonIsAnArrayWhereAListWasAskedFor) {
  const auto tables = nlohmann::json::parse(run("--fn gelu --bits 4,1-2 --json").out);
  ASSERT_EQ(tables.size(), 3);
  for (const size_t i : {0, 1, 2}) {
    const std::string bits = std::to_string(tables[i]["bits"].get<int>());
    EXPECT_EQ(tables[i], nlohmann::json::parse(run("--fn gelu --json --bits " + bits).out));
  }
  EXPECT_EQ(tables[0]["bits"], 1);
  EXPECT_EQ(tables[2]["bits"], 4);
  EXPECT_TRUE(nlohmann::json::parse(run("--fn gelu --bits 2-2 -o -").out).is_array());
  EXPECT_TRUE(nlohmann::json::parse(run("--fn gelu --bits 2 -o -").out).is_object());
}

TEST_F(Sizes, EachTableHasAFileOfItsOwn) {
  const Outcome outcome =
      run("--fn gelu --bits 1-2 -o 'gelu_{bits}.json' --svg 'gelu_{levels}.svg'");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, testing::StartsWith("gelu_1.json: gelu, 1 bit, error 0.141, within "));
  EXPECT_THAT(outcome.out, HasSubstr("\ngelu_2.json: gelu, 2 bits, error "));
  EXPECT_EQ(read("gelu_2.json"), run("--fn gelu --bits 2 --json").out);
  EXPECT_EQ(read("gelu_4.svg"), run("--fn gelu --bits 2 --svg -").out);
  EXPECT_EQ(run("verify gelu_1.json gelu_2.json").code, 0);
}

TEST_F(Sizes, LevelsMayBeAListToo) {
  ASSERT_EQ(run("--fn gelu --levels 3,5-6 -o 'gelu_{levels}.json'").code, 0);
  for (const int count : {3, 5, 6}) {
    const auto table = solver::read_table(path("gelu_" + std::to_string(count) + ".json"));
    EXPECT_EQ(table.levels.size(), count);
  }
}

TEST_F(Sizes, OnePlaceForSeveralTablesIsRefused) {
  expect_refused("--fn gelu --bits 1-2 -o gelu.json", 2, "such as gelu_{bits}.json");
  expect_refused("--fn gelu --levels 3-4 -o a.b/gelu", 2, "such as a.b/gelu_{levels}");
  expect_refused("--fn gelu --levels 3-4 -o 'g{bits}.json'", 2, "'g2.json' is one place for sev");
  expect_refused("--fn gelu --bits 1-2 --svg -", 2, "'-' is one place for several tables");
  EXPECT_FALSE(exists("gelu.json"));
}

// Two sizes, of which the greater gives the same table: relu needs no more than one bit.
TEST_F(Sizes, NamesCarryWhatWasAskedFor) {
  ASSERT_EQ(run("--fn relu --bits 1-2 -o 'relu_{bits}.json'").code, 0);
  EXPECT_EQ(solver::read_table(path("relu_2.json")).bits(), 1);
}

}  // namespace fewbit::sizes_test
