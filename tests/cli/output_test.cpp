#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "table/json.hpp"
#include "tests/cli/program.hpp"

namespace fewbit {

using Output = Program;
using testing::HasSubstr;

TEST_F(Output, FullDiskIsReported) {
  for (const char* command :
       {"--fn gelu --bits 2 -o /dev/full", "report --table1 -o /dev/full --format md"}) {
    expect_refused(command, 1, "/dev/full");
  }
}

TEST_F(Output, FullStandardOutputIsReported) {
  const std::string command = "'" FEWBIT_SOLVE "' list >/dev/full 2>" + path("message");
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_THAT(read("message"), HasSubstr("fewbit-solve: error: standard output: cannot write"));
}

TEST_F(Output, PlaceThatCannotBeWrittenIsNamed) {
  write("file", "not a folder");
  expect_refused("--fn gelu --bits 2 -o file/table.json", 1, "file/table.json");
  EXPECT_EQ(read("file"), "not a folder");
  std::filesystem::create_directory(path("folder"));
  const Outcome outcome = run("--fn gelu --bits 2 -o folder");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(std::filesystem::is_directory(path("folder")));
}

TEST_F(Output, FileHoldsWhatJsonPrints) {
  const Outcome outcome = run("--fn gelu --bits 3 --json -o deep/folder/table.json");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(read("deep/folder/table.json"), outcome.out);
  EXPECT_EQ(solver::to_json(solver::read_table(path("deep/folder/table.json"))), outcome.out);
}

TEST_F(Output, WritesNoTemporaryFilesBeside) {
  ASSERT_EQ(run("--fn gelu --bits 3 -o folder/table.json").code, 0);
  const std::filesystem::directory_iterator files(path("folder"));
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(Output, ShowPrintsWhatSolvingPrinted) {
  ASSERT_EQ(run("--fn gelu --bits 3 -o table.json").code, 0);
  EXPECT_EQ(run("show table.json").out, run("--fn gelu --bits 3").out);
}

TEST_F(Output, PictureIsTheSameFromSolvingAndShowing) {
  ASSERT_EQ(run("--fn gelu --bits 3 -o table.json --svg a.svg").code, 0);
  ASSERT_EQ(run("show table.json --svg -o b.svg").code, 0);
  EXPECT_THAT(read("a.svg"), testing::StartsWith("<svg xmlns="));
  EXPECT_EQ(read("a.svg"), read("b.svg"));
}

TEST_F(Output, PipesCarryNoColourAndNoProgress) {
  const Outcome outcome = run("report --fn gelu,silu,tanh,mish --bits 1-6");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out.find('\033'), std::string::npos);
  EXPECT_EQ(run("--fn gelu --bits 3").out.find('\033'), std::string::npos);
}

}  // namespace fewbit
