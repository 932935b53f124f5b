#include <regex>

#include "tests/cli/program.hpp"

namespace fewbit::help_test {

using Help = Program;
using testing::HasSubstr;

TEST_F(Help, EveryCommandShowsExamplesThatNameIt) {
  for (const char* command : {"list", "show", "verify", "report", "emit", "tables", "help"}) {
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

TEST_F(Help, TopicsExplainWhatIsPrinted) {
  const std::string results = run("help results").out;
  for (const char* word : {"error", "lower bound", "relative gap", "smoothed bias", "thresholds",
                           "symmetry", "residual", "units", "rms", "price"}) {
    EXPECT_THAT(results, HasSubstr(word));
  }
  EXPECT_EQ(run("--help results").out, results);
  EXPECT_THAT(run("help exit-codes").out, HasSubstr("2   The command line is wrong"));
  EXPECT_THAT(run("help files").out, HasSubstr("{bits} and {levels}"));
  EXPECT_THAT(run("help weights").out, HasSubstr("samples x units"));
  EXPECT_THAT(run("help forms").out, HasSubstr("unbiased"));
}

TEST_F(Help, EveryTopicAndCommandIsListedAndHasAPage) {
  const std::string text = run("help").out;
  const std::regex line("\n  ([a-z][a-z-]*) {2,}");
  int topics = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), line); it != std::sregex_iterator();
       ++it) {
    const Outcome page = run("help " + (*it)[1].str());
    EXPECT_EQ(page.code, 0);
    EXPECT_GT(page.out.size(), 200);
    ++topics;
  }
  EXPECT_GE(topics, 5);
  EXPECT_EQ(run("help verify").out, run("verify --help").out);
  EXPECT_EQ(run("help").out, run("help --help").out);
  expect_refused("help nonsense", 2, "'nonsense' is neither a topic nor a command; accepted: ");
  expect_refused("--help nonsense", 2, "'nonsense' is neither a topic nor a command");
}

TEST_F(Help, VerifySaysWhatItChecks) {
  const std::string help = run("verify --help").out;
  ASSERT_EQ(run("--fn gelu --bits 2 -o t.json").code, 0);
  const std::string findings = run("verify -v t.json").out;
  const std::regex finding("holds  ([a-z_]+)");
  int count = 0;
  for (std::sregex_iterator it(findings.begin(), findings.end(), finding);
       it != std::sregex_iterator(); ++it) {
    EXPECT_THAT(help, HasSubstr((*it)[1].str()));
    ++count;
  }
  EXPECT_GE(count, 7);
  EXPECT_THAT(help, HasSubstr("Exit code 0"));
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

}  // namespace fewbit::help_test
