#include "tests/cli/program.hpp"

namespace fewbit {

using Help = Program;
using testing::HasSubstr;

TEST_F(Help, EveryCommandShowsExamplesThatNameIt) {
  for (const char* command : {"list", "show", "verify", "report", "emit", "tables"}) {
    const Outcome outcome = run(std::string(command) + " --help");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("Example"));
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n  fewbit-solve ") + command));
  }
}

TEST_F(Help, DefaultCommandNamesItsOptionsAndAllCommands) {
  const std::string text = run("--help").out;
  for (const char* word :
       {"--fn",     "--expr",   "--name",  "--bits", "--levels", "--form",   "--objective",
        "--weight", "--domain", "--dtype", "--json", "--output", "--svg",    "list",
        "show",     "verify",   "report",  "emit",   "tables",   "Examples:"}) {
    EXPECT_THAT(text, HasSubstr(word));
  }
}

TEST_F(Help, VersionIsPrinted) {
  EXPECT_THAT(run("--version").out,
              testing::MatchesRegex("fewbit-solve [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(Help, ListNamesFunctionsParametersAndSources) {
  const std::string text = run("list").out;
  EXPECT_THAT(text, HasSubstr("\ngelu\n    f(x) = "));
  EXPECT_THAT(text, HasSubstr("silu (also swish)"));
  EXPECT_THAT(text, HasSubstr("alpha = 1 by default, in ("));
  EXPECT_THAT(run("list --json").out, HasSubstr("\"name\": \"gelu\""));
}

}  // namespace fewbit
