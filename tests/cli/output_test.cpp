#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "table/json.hpp"
#include "tests/cli/program.hpp"

namespace fewbit::output_test {

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

TEST_F(Output, JsonGoesToTheFileAlone) {
  const std::string json = run("--fn gelu --bits 3 --json").out;
  const Outcome outcome = run("--fn gelu --bits 3 --json -o table.json");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(read("table.json"), json);
  EXPECT_EQ(solver::to_json(solver::read_table(path("table.json"))), json);
}

TEST_F(Output, DashIsStandardOutputAndNothingElseIsOnIt) {
  EXPECT_EQ(run("--fn gelu --bits 3 -o -").out, run("--fn gelu --bits 3 --json").out);
  ASSERT_EQ(run("--fn gelu --bits 3 -o table.json --svg a.svg").code, 0);
  EXPECT_EQ(run("--fn gelu --bits 3 --svg -").out, read("a.svg"));
  EXPECT_EQ(run("--fn gelu --bits 3 -o other.json --svg -").out, read("a.svg"));
  EXPECT_EQ(run("show table.json --svg -o -").out, read("a.svg"));
  EXPECT_FALSE(exists("-"));
  expect_refused("--fn gelu --bits 3 -o - --svg -", 2, "standard output is taken by -o -");
  expect_refused("--fn gelu --bits 3 --json --svg -", 2, "standard output is taken by --json");
}

TEST_F(Output, NoInputIsWrittenTo) {
  write("a.csv", "1\n2\n3\n4\n");
  write("bins.csv", "-2,1\n-0.5,3\n0.5,2\n3\n");
  const std::string solve = "--fn gelu --bits 1 --weight ";
  ASSERT_EQ(run(solve + "samples:a.csv -o table.json").code, 0);
  const std::string table = read("table.json");
  for (const std::string& command :
       {solve + "samples:a.csv -o a.csv", solve + "samples:a.csv -o ./a.csv",
        solve + "samples:a.csv --svg a.csv", solve + "histogram:bins.csv -o bins.csv",
        std::string("emit table.json -o table.json"), std::string("show table.json -o table.json"),
        std::string("show table.json --svg -o table.json"),
        std::string("report table.json --format md -o table.json"),
        std::string("report --fn gelu --format md --weight samples:a.csv -o a.csv")}) {
    expect_refused(command, 2, "is read by this call; expected another file");
  }
  EXPECT_EQ(read("a.csv"), "1\n2\n3\n4\n");
  EXPECT_EQ(read("table.json"), table);
}

TEST_F(Output, ANarrowTableDoesNotWrap) {
  setenv("COLUMNS", "40", 1);
  const std::string text = run("--fn gelu --bits 3").out;
  unsetenv("COLUMNS");
  std::istringstream lines(text.substr(text.find("      x in")));
  size_t count = 0;
  for (std::string line; std::getline(lines, line) && !line.empty(); ++count) {
    EXPECT_LE(line.size(), 40u) << line;
  }
  EXPECT_EQ(count, 11u) << "a head and ten intervals";
}

TEST_F(Output, AGapThatProvesNothingIsWarnedOf) {
  write("near.csv", "-1 1 1.0000000000000002 3");
  const Outcome outcome =
      run("--expr 'x*tanh(x) + x^2' --name n --levels 3 --weight samples:near.csv -o a.json");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("warning: 3 levels: the relative gap is 1;"));
  EXPECT_EQ(run("--fn gelu --bits 3 -o a.json").err, "");
}

TEST_F(Output, TwoOutputsInOnePlaceAreRefused) {
  expect_refused("--fn gelu --bits 3 -o a --svg a", 2, "'a' is what another output is written to");
  EXPECT_FALSE(exists("a"));
}

TEST_F(Output, MissingFolderIsAnErrorAndNotMade) {
  ASSERT_EQ(run("--fn gelu --bits 3 -o table.json").code, 0);
  for (const char* command :
       {"--fn gelu --bits 2 -o new/x", "--fn gelu --bits 2 --svg new/x", "show table.json -o new/x",
        "emit table.json -o new/x", "report --table1 -o new/x.md", "tables -o new/x"}) {
    expect_refused(command, 1, "the folder 'new' does not exist");
  }
  EXPECT_FALSE(exists("new"));
  expect_refused("--fn gelu --bits 2 -o table.json/x", 1, "'table.json' is not a folder");
}

// 256 intervals take their whole second; what cannot be written is told at once.
TEST_F(Output, PlaceIsCheckedBeforeTheWork) {
  const auto start = std::chrono::steady_clock::now();
  expect_refused("--fn gelu --bits 8 --form intervals -o new/x", 1, "new/x");
  expect_refused("--fn gelu --bits 8 --form intervals --svg new/x -o x", 1, "new/x");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(900));
  EXPECT_FALSE(exists("x"));
}

TEST_F(Output, FolderWithoutPermissionIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write everywhere";
  std::filesystem::create_directory(path("locked"));
  std::filesystem::permissions(path("locked"), std::filesystem::perms::owner_read);
  expect_refused("--fn gelu --bits 2 -o locked/x", 1, "locked/x: cannot write: Permission denied");
}

TEST_F(Output, WritesNoTemporaryFilesBeside) {
  std::filesystem::create_directory(path("folder"));
  ASSERT_EQ(run("--fn gelu --bits 3 -o folder/table.json").code, 0);
  const std::filesystem::directory_iterator files(path("folder"));
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(Output, PlotTakesTheWidthThatColumnsNames) {
  const auto widest = [&](const std::string& columns) {
    const std::string command =
        "COLUMNS=" + columns + " '" FEWBIT_SOLVE "' --fn gelu --bits 2 >" + path("plot");
    EXPECT_EQ(std::system(command.c_str()), 0);
    const std::string text = read("plot");
    const size_t axis = text.find("└");
    // Eight columns of labels, one blank, and three bytes for each character of the axis.
    return 9 + (text.find('\n', axis) - axis) / 3;
  };
  EXPECT_EQ(widest("50"), 50);
  EXPECT_EQ(widest("100"), 100);
  EXPECT_EQ(widest("1"), 40);
  EXPECT_EQ(widest("100000"), 160);
  for (const char* none : {"''", "x", "-5", "12x"}) EXPECT_EQ(widest(none), 80);
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

/// What the program writes to a terminal as its standard error; nothing where there is none.
std::optional<std::string> on_terminal(const std::string& arguments) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (terminal < 0) return std::nullopt;
  std::optional<std::string> text;
  const char* name =
      ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0 ? ::ptsname(terminal) : nullptr;
  const int other_end = name == nullptr ? -1 : ::open(name, O_RDWR | O_NOCTTY);
  if (other_end >= 0) {
    const std::string command =
        "'" FEWBIT_SOLVE "' " + arguments + " >/dev/null 2>" + std::string(name);
    if (std::system(command.c_str()) == 0) {
      text.emplace();
      std::array<char, 4096> buffer{};
      for (ssize_t n = 0; (n = ::read(terminal, buffer.data(), buffer.size())) > 0;) {
        text->append(buffer.data(), static_cast<size_t>(n));
      }
    }
    ::close(other_end);
  }
  ::close(terminal);
  return text;
}

TEST_F(Output, ATerminalIsToldWhatIsLeftOfOneTable) {
  const auto text = on_terminal("--fn gelu --bits 8 --form intervals");
  if (!text) GTEST_SKIP() << "no terminal can be made here";
  EXPECT_THAT(*text,
              testing::StartsWith("\rsolving 0 of 1, left: search, bias, verification (1 s)"));
  EXPECT_THAT(*text, testing::EndsWith("\r\033[K"));
  EXPECT_EQ(on_terminal("--fn gelu --bits 2"), "");
  EXPECT_EQ(on_terminal("--fn gelu --bits 8 --form intervals --quiet"), "");
}

TEST_F(Output, PipesCarryNoColourAndNoProgress) {
  const Outcome outcome = run("report --fn gelu,silu,tanh,mish --bits 1-6");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out.find('\033'), std::string::npos);
  EXPECT_EQ(run("--fn gelu --bits 3").out.find('\033'), std::string::npos);
}

}  // namespace fewbit::output_test
