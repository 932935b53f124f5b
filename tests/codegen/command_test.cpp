// fewbit-codegen as its user sees it.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "fixtures.hpp"
#include "table/json.hpp"

namespace fewbit::command_test {

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

/// Starts fewbit-codegen without a shell between, kills it after `delay`; true if it was still
/// alive.
bool run_and_kill(const std::string& folder, std::chrono::microseconds delay) {
  const std::string tables = folder + "/tables";
  const std::string output = folder + "/generated";
  const pid_t child = ::fork();
  if (child == 0) {
    std::ignore = ::freopen("/dev/null", "w", stdout);
    ::execl(FEWBIT_CODEGEN, "fewbit-codegen", "--tables", tables.c_str(), "--output",
            output.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

TEST_F(Command, KilledWhileWritingLeavesOldFilesAndNewOnes) {
  run(both_);
  std::map<std::string, std::string> fresh;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/generated")) {
    if (entry.is_regular_file()) fresh[entry.path()] = read_text_file(entry.path().string());
  }
  int killed = 0;
  for (int i = 0; i < 30; ++i) {
    for (const auto& [path, text] : fresh) write_text_file(path, "old");
    killed += run_and_kill(folder_, std::chrono::milliseconds(2 * i));
    for (const auto& [path, text] : fresh) {
      const std::string found = read_text_file(path);
      EXPECT_TRUE(found == "old" || found == text) << path << ": " << found.size() << " bytes";
    }
  }
  EXPECT_GT(killed, 0);
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

}  // namespace fewbit::command_test
