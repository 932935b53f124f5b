#include <cstdlib>

#include <sys/wait.h>

#include "tests/cli/program.hpp"

namespace fewbit::exit_code_test {

/// Runs lines of a shell with `solve` for the program, in the test's folder.
class ExitCode : public Program {
 protected:
  Outcome shell(const std::string& lines) const {
    write("script",
          "cd '" + path("") + "'\nsolve() { '" FEWBIT_SOLVE "' \"$@\"; }\n" + lines + "\n");
    const std::string command =
        "bash '" + path("script") + "' >'" + path("out") + "' 2>'" + path("err") + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }
};

TEST_F(ExitCode, IsZeroOneOrTwo) {
  EXPECT_EQ(run("--fn gelu --bits 2").code, 0);
  EXPECT_EQ(run("--help").code, 0);
  EXPECT_EQ(run("--version").code, 0);
  EXPECT_EQ(run("list").code, 0);
  EXPECT_EQ(run("show missing.json").code, 1);
  EXPECT_EQ(run("verify missing.json").code, 1);
  EXPECT_EQ(run("--fn gelu --bits 2 --weight samples:missing.npy").code, 1);
  EXPECT_EQ(run("--fn relu --bits 2 --domain 1,2").code, 1);
  EXPECT_EQ(run("").code, 2);
  EXPECT_EQ(run("--nonsense").code, 2);
  EXPECT_EQ(run("--fn gelu --bits 9").code, 2);
}

// The reader takes one line, or none, and goes; in the last case nobody but the program can notice.
TEST_F(ExitCode, ReaderThatGoesAwayIsNoError) {
  const Outcome outcome = shell(
      "solve report --fn all --bits 1 --format html | head -n 1 >first; echo ${PIPESTATUS[0]}\n"
      "solve list --json | true; echo ${PIPESTATUS[0]}\n"
      "(trap '' PIPE; solve list | true; echo ${PIPESTATUS[0]})");
  EXPECT_EQ(outcome.out, "0\n0\n0\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(read("first"), "<!DOCTYPE html>\n");
}

TEST_F(ExitCode, VerdictIsRightAlsoWithoutAReader) {
  ASSERT_EQ(run("--fn gelu --bits 2 -o good.json").code, 0);
  std::string text = read("good.json");
  text.replace(text.find("0.0405"), 6, "0.0305");
  write("bad.json", text);
  const Outcome outcome = shell(
      "solve verify bad.json good.json | true; echo ${PIPESTATUS[0]}\n"
      "solve verify good.json good.json | true; echo ${PIPESTATUS[0]}\n");
  EXPECT_EQ(outcome.out, "1\n0\n");
  EXPECT_EQ(outcome.err, "fewbit-solve: error: 1 of 2 files failed\n");
}

TEST_F(ExitCode, FilesAreWrittenAlsoWithoutAReader) {
  const Outcome outcome =
      shell("solve --fn gelu --bits 1-4 -o 'gelu_{bits}.json' | true; echo ${PIPESTATUS[0]}");
  EXPECT_EQ(outcome.out, "0\n");
  for (const char* name : {"gelu_1.json", "gelu_2.json", "gelu_3.json", "gelu_4.json"}) {
    EXPECT_TRUE(exists(name));
  }
}

TEST_F(ExitCode, ClosedStandardOutputIsAnError) {
  const Outcome outcome = shell("solve list >&-");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "fewbit-solve: error: standard output: cannot write: Bad file descriptor\n");
}

using Quiet = ExitCode;

TEST_F(Quiet, LeavesOutNotesButNotWhatWasAskedForNorErrors) {
  EXPECT_EQ(run("--fn gelu --bits 2 -o good.json -q").out, "");
  EXPECT_TRUE(exists("good.json"));
  EXPECT_EQ(run("--fn gelu --bits 2 --quiet").out, run("--fn gelu --bits 2").out);
  EXPECT_EQ(run("verify --quiet good.json").out, "");
  write("bad.json", "{}");
  const Outcome outcome = run("verify good.json bad.json --quiet");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, testing::StartsWith("FAILED  bad.json"));
  EXPECT_EQ(outcome.err, "fewbit-solve: error: 1 of 2 files failed\n");
  EXPECT_EQ(run("-q list").out, run("list --quiet").out);
}

TEST_F(Quiet, EveryCommandTakesIt) {
  for (const char* command : {"list", "show", "verify", "report", "emit", "tables", "help"}) {
    EXPECT_THAT(run(std::string(command) + " --help").out, testing::HasSubstr("-q,--quiet"));
  }
}

}  // namespace fewbit::exit_code_test
