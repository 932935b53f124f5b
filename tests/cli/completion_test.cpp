#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "tests/cli/program.hpp"

namespace fewbit::completion_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;

using Words = std::vector<std::string>;

const Words kCommands{"", "list", "show", "verify", "report", "emit", "tables", "help"};

/// The program's scripts in the shells that they are for.
class Completion : public Program {
 protected:
  Completion() {
    for (const char* shell : {"bash", "zsh", "fish"}) {
      write(shell, run(std::string("--completion ") + shell).out);
    }
  }

  /// False where the command fails; what it printed is in "printed".
  bool shell(const std::string& command) const {
    return std::system(("cd '" + path("") + "' && " + command + " >printed 2>&1").c_str()) == 0;
  }

  Words lines(const std::string& name) const {
    std::istringstream in(read(name));
    Words words;
    for (std::string line; std::getline(in, line);) words.push_back(line);
    return words;
  }

  /// What bash would offer at the end of `line`; as bash does it, but for readline.
  Words offered(const std::string& line) const {
    write("script",
          "source ./bash\ncompopt() { :; }\nCOMP_LINE=\"$1\" COMP_POINT=${#1}\n"
          "_fewbit_solve\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    EXPECT_TRUE(shell("bash script '" + line + "'")) << read("printed");
    return lines("printed");
  }

  /// "-o", "--output", ... of a command's help.
  Words options_of(const std::string& command) const {
    const std::string help = run(command + " --help").out;
    const std::regex line("\n  (-[-a-z0-9,]+)");
    Words names;
    for (std::sregex_iterator it(help.begin(), help.end(), line); it != std::sregex_iterator();
         ++it) {
      std::istringstream list((*it)[1].str());
      for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    }
    return names;
  }

  bool has(const std::string& program) const { return shell("command -v " + program); }
};

TEST_F(Completion, BashOffersEveryOptionOfEveryCommand) {
  for (const std::string& command : kCommands) {
    const Words options = options_of(command);
    EXPECT_THAT(options, IsSupersetOf({"-h", "--help", "-q", "--quiet"})) << command;
    EXPECT_THAT(offered("fewbit-solve " + command + " -"),
                testing::UnorderedElementsAreArray(options));
  }
  EXPECT_EQ(offered("fewbit-solve "), Words(kCommands.begin() + 1, kCommands.end()));
}

TEST_F(Completion, ZshAndFishAndTheManualNameEveryOption) {
  const std::string zsh = read("zsh");
  const std::string fish = read("fish");
  const std::string page = run("--man").out;
  for (const std::string& command : kCommands) {
    const size_t start = zsh.find("\n    '" + command + "')\n");
    ASSERT_NE(start, zsh.npos) << command;
    const std::string in_zsh = zsh.substr(start, zsh.find(";;", start) - start);
    EXPECT_THAT(page, HasSubstr(command.empty() ? ".SH OPTIONS\n" : "\n.SS " + command + "\n"));
    for (const std::string& option : options_of(command)) {
      EXPECT_THAT(in_zsh, HasSubstr(")" + option)) << command;
      const bool is_long = option.starts_with("--");
      EXPECT_THAT(fish, HasSubstr(is_long ? " -l " + option.substr(2) : " -s " + option.substr(1)));
      EXPECT_THAT(page, HasSubstr(std::regex_replace(option, std::regex("-"), "\\-")));
    }
  }
}

TEST_F(Completion, ValuesAreOffered) {
  EXPECT_THAT(offered("fewbit-solve --fn "), IsSupersetOf({"gelu", "silu", "swish", "relu"}));
  EXPECT_EQ(offered("fewbit-solve --fn=sig"), Words{"sigmoid"});
  EXPECT_THAT(offered("fewbit-solve --bits "), Contains("8"));
  EXPECT_EQ(offered("fewbit-solve report --fn gelu,sig"), Words{"gelu,sigmoid"});
  EXPECT_EQ(offered("fewbit-solve --weight sam"), Words{"samples:"});
  EXPECT_THAT(offered("fewbit-solve help "), IsSupersetOf({"results", "weights"}));
  EXPECT_EQ(offered("fewbit-solve --expr \"x * 2\" --form int"), Words{"intervals"});
  EXPECT_EQ(offered("fewbit-solve -q ver"), Words{"verify"});
  EXPECT_EQ(offered("fewbit-solve --name "), Words{""});
}

TEST_F(Completion, FilesAreOfferedAlsoBehindAWord) {
  write("inputs.npy", "");
  write("a table.json", "");
  EXPECT_EQ(offered("fewbit-solve show a"), Words{"a table.json"});
  EXPECT_EQ(offered("fewbit-solve --weight samples:inp"), Words{"inputs.npy"});
  EXPECT_EQ(offered("fewbit-solve --svg inp"), Words{"inputs.npy"});
}

TEST_F(Completion, EveryWordOfferedIsAccepted) {
  const std::string solve = "--fn gelu --bits 1 --weight normal:0,1";
  for (const char* option : {"--form", "--objective", "--dtype"}) {
    const Words words = offered(std::string("fewbit-solve ") + option + " ");
    EXPECT_GE(words.size(), 2);
    for (const std::string& word : words) {
      EXPECT_EQ(run(solve + " " + option + " " + word).code, 0) << option << " " << word;
    }
  }
  for (const std::string& word : offered("fewbit-solve --fn ")) {
    EXPECT_EQ(run("--bits 1 --fn " + word).code, 0) << word;
  }
  for (const std::string& word : offered("fewbit-solve report --format ")) {
    EXPECT_EQ(run("report --fn gelu --format " + word).code, 0) << word;
  }
  ASSERT_EQ(run("--fn gelu --bits 1 -o table.json").code, 0);
  for (const std::string& word : offered("fewbit-solve emit --lang ")) {
    EXPECT_EQ(run("emit table.json --lang " + word).code, 0) << word;
  }
}

// The message for a weight that does not exist names them all.
TEST_F(Completion, EveryWeightIsOffered) {
  const std::string message = run("--fn gelu --bits 1 --weight ?").err;
  const std::string accepted = message.substr(message.find("accepted: ") + 10);
  const std::regex word("(^|, )([a-z-]+)");
  const Words weights = offered("fewbit-solve --weight ");
  for (std::sregex_iterator it(accepted.begin(), accepted.end(), word);
       it != std::sregex_iterator(); ++it) {
    const std::string name = (*it)[2].str();
    EXPECT_THAT(weights, Contains(testing::AnyOf(name, name + ":")));
  }
  EXPECT_GE(weights.size(), 5);
}

TEST_F(Completion, BashTakesItsScript) {
  EXPECT_TRUE(shell("bash -n bash")) << read("printed");
  EXPECT_TRUE(shell("bash -c 'source ./bash && complete -p fewbit-solve'")) << read("printed");
  if (!has("shellcheck")) GTEST_SKIP() << "shellcheck is not installed";
  EXPECT_TRUE(shell("shellcheck -s bash bash")) << read("printed");
}

TEST_F(Completion, ZshTakesItsScript) {
  if (!has("zsh")) GTEST_SKIP() << "zsh is not installed";
  EXPECT_TRUE(shell("zsh -n zsh")) << read("printed");
}

TEST_F(Completion, FishOffersWhatBashOffers) {
  if (!has("fish")) GTEST_SKIP() << "fish is not installed";
  write("inputs.npy", "");
  const auto in_fish = [&](const std::string& line) {
    write("script.fish",
          "source fish\ncomplete -C '" + line + "' | string replace -r '\\t.*' ''; true\n");
    EXPECT_TRUE(shell("fish script.fish")) << read("printed");
    return lines("printed");
  };
  for (const char* line : {"fewbit-solve --fn g", "fewbit-solve --form ", "fewbit-solve help r",
                           "fewbit-solve show inp", "fewbit-solve ver"}) {
    EXPECT_THAT(in_fish(line), testing::UnorderedElementsAreArray(offered(line))) << line;
  }
  EXPECT_EQ(in_fish("fewbit-solve --weight samples:inp"), Words{"samples:inputs.npy"});
  EXPECT_EQ(in_fish("fewbit-solve report --fn gelu,sig"), Words{"gelu,sigmoid"});
}

TEST_F(Completion, ManualIsReadWithoutAWarning) {
  write("page", run("--man").out);
  if (!has("groff")) GTEST_SKIP() << "groff is not installed";
  EXPECT_TRUE(shell("groff -ww -man -Tutf8 -z page"));
  EXPECT_EQ(read("printed"), "");
  ASSERT_TRUE(shell("groff -man -Tascii -P-c page"));
  for (const char* part : {"EXIT CODES", "-o, --output PATH", "fewbit-solve verify -v gelu.json"}) {
    EXPECT_THAT(std::regex_replace(read("printed"), std::regex(".\b|\x1b\\[[0-9;]*m"), ""),
                HasSubstr(part));
  }
}

TEST_F(Completion, OtherShellsAreRefused) {
  expect_refused("--completion tcsh", 2, "'tcsh' is not accepted; expected bash, zsh or fish");
}

}  // namespace fewbit::completion_test
