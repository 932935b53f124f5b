#include <filesystem>

#include "tests/cli/program.hpp"

namespace fewbit::tables_test {

using Tables = Program;
using testing::HasSubstr;

TEST_F(Tables, WritesAll) {
  const Outcome first = run("tables -o tables");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.err, "");
  EXPECT_THAT(first.out, HasSubstr("written  gelu/levels_uniform_b3.json\n"));
  EXPECT_THAT(first.out, HasSubstr("written  gelu/smoothed_normal_b1.json\n"));
  EXPECT_THAT(first.out, HasSubstr("written  relu/levels_uniform_b1.json\n"));
  EXPECT_THAT(first.out, HasSubstr("written  value_quantizer/levels_normal_b8.json\n"));
}

TEST_F(Tables, WritesOnlyWhatChangedAndRemovesWhatIsStale) {
  ASSERT_EQ(run("tables -o tables --fn gelu,relu").code, 0);
  EXPECT_FALSE(exists("tables/silu"));
  std::filesystem::create_directory(path("tables/silu"));
  write("tables/silu/levels_uniform_b8.json", "stale, but not asked for");
  const std::string good = read("tables/gelu/levels_uniform_b3.json");
  write("tables/gelu/levels_uniform_b3.json", "damaged");
  write("tables/gelu/levels_uniform_b9.json", "not a name of ours");
  write("tables/gelu/levels_uniform_b8.json", "stale");
  write("tables/gelu/notes.txt", "somebody's");
  const std::filesystem::path untouched = path("tables/gelu/levels_uniform_b2.json");
  const auto time = std::filesystem::last_write_time(untouched);

  const Outcome check = run("tables -o tables --fn relu,gelu --check");
  EXPECT_EQ(check.code, 1);
  EXPECT_THAT(check.out, HasSubstr("differs  gelu/levels_uniform_b3.json\nstale    "));
  EXPECT_EQ(read("tables/gelu/levels_uniform_b3.json"), "damaged");

  const Outcome second = run("tables -o tables --fn gelu");
  EXPECT_THAT(second.out, HasSubstr("tables, 2 changed\n"));
  EXPECT_EQ(read("tables/gelu/levels_uniform_b3.json"), good);
  EXPECT_FALSE(exists("tables/gelu/levels_uniform_b8.json"));
  EXPECT_TRUE(exists("tables/gelu/levels_uniform_b9.json"));
  EXPECT_TRUE(exists("tables/gelu/notes.txt"));
  EXPECT_EQ(std::filesystem::last_write_time(untouched), time);
  EXPECT_TRUE(exists("tables/silu/levels_uniform_b8.json"));
  EXPECT_EQ(run("tables -o tables --fn gelu,relu --check").code, 0);
}

TEST_F(Tables, NeedsAFolder) {
  expect_refused("tables", 2, "output");
  expect_refused("tables -o none --check", 1, "none: there is no such folder");
  expect_refused("tables -o tables --fn gelo", 2, "gelo");
  expect_refused("tables -o tables --fn elu:alpha=2", 2, "parameters");
  write("file", "");
  expect_refused("tables -o file", 1, "file: is not a folder");
}

}  // namespace fewbit::tables_test
