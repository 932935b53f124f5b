// fewbit-codegen as its user sees it.
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "fixtures.hpp"
#include "table/json.hpp"

namespace fewbit {

namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status;
  std::string output;
};

Outcome run(const std::string& arguments, const std::string& environment = "") {
  const std::string command = environment + " " FEWBIT_CODEGEN " " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> block{};
  while (const size_t count = std::fread(block.data(), 1, block.size(), pipe)) {
    output.append(block.data(), count);
  }
  const int status = ::pclose(pipe);
  return {WEXITSTATUS(status), output};
}

class Command : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string folder_ =
      (fs::temp_directory_path() / ("fewbit_command_" + std::to_string(::getpid()))).string();
  std::string both_ = "--tables " + folder_ + "/tables --output " + folder_ + "/generated";
};

TEST_F(Command, HelpShowsExamples) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.output.find("Examples:"), std::string::npos);
}

TEST_F(Command, UnknownOptionIsAUsageError) {
  const Outcome outcome = run("--chek");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.output.find("fewbit-codegen: error: "), 0u);
}

TEST_F(Command, SecondRunWritesNothing) {
  EXPECT_NE(run(both_).output.find("wrote "), std::string::npos);
  const Outcome again = run(both_);
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(again.output, "");
}

TEST_F(Command, CheckNamesTheFileThatWasEdited) {
  EXPECT_EQ(run(both_ + " --check").status, 1);
  run(both_);
  EXPECT_EQ(run(both_ + " --check").status, 0);
  const std::string path = folder_ + "/generated/gelu.hpp";
  write_text_file(path, read_text_file(path) + "\n");
  const Outcome outcome = run(both_ + " --check");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("gelu.hpp differs"), std::string::npos) << outcome.output;
}

TEST_F(Command, OutputIsTheSameInEveryLocale) {
  run(both_);
  EXPECT_EQ(run(both_ + " --check", "LC_ALL=de_DE.UTF-8").status, 0);
}

TEST_F(Command, BrokenTableIsOneLineAndLeavesTheOutputAlone) {
  write_text_file(folder_ + "/tables/gelu/levels_uniform_b3.json", "{\"schema\":");
  const Outcome outcome = run(both_);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("levels_uniform_b3.json"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1);
  EXPECT_FALSE(fs::exists(folder_ + "/generated"));
}

TEST_F(Command, OneFunctionForLibtorchIsWrittenOnceFromItsTable) {
  const solver::FunctionSpec own = solver::custom_function("own_act", "x*tanh(x)");
  solver::Table table = test::gelu_levels_b3();
  table.problem.function = own;
  solver::write_table(table, folder_ + "/own_act.json");
  const std::string arguments = "--torch " + folder_ + "/own_act.json --output " + folder_;
  EXPECT_NE(run(arguments).output.find("/fewbit/nn/own_act.hpp\n"), std::string::npos);
  EXPECT_EQ(run(arguments).output, "");
  EXPECT_TRUE(fs::exists(folder_ + "/own_act/registry.inc"));
  EXPECT_TRUE(fs::exists(folder_ + "/own_act.json"));
  EXPECT_EQ(run("--torch " + folder_ + "/none.json").status, 1);
}

TEST_F(Command, UnwritableOutputIsAnError) {
  write_text_file(folder_ + "/file", "");
  const Outcome outcome = run("--tables none --output " + folder_ + "/file/generated");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output.find("fewbit-codegen: error: "), 0u);
}

}  // namespace

}  // namespace fewbit
