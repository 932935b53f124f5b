#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cli/program.hpp"

namespace fewbit::interrupted_test {

namespace fs = std::filesystem;

/// Starts fewbit-solve without a shell between.
pid_t start(std::vector<std::string> arguments) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  arguments.insert(arguments.begin(), "fewbit-solve");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execv(FEWBIT_SOLVE, pointers.data());
  ::_exit(127);
}

/// True if it was still alive.
bool kill_now(pid_t child) {
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

bool run_and_kill(const std::string& output, std::chrono::microseconds delay) {
  const pid_t child = start({"--fn", "gelu", "--levels", "64", "-o", output});
  std::this_thread::sleep_for(delay);
  return kill_now(child);
}

/// Paths of all files below `folder`, relative to it.
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

using Interrupted = Program;

TEST_F(Interrupted, FileIsTheOldOneOrTheNewOne) {
  ASSERT_EQ(run("--fn gelu --levels 64 -o new.json").code, 0);
  const std::string fresh = read("new.json");
  int killed = 0;
  for (int i = 0; i < 60; ++i) {
    write("table.json", "old");
    killed += run_and_kill(path("table.json"), std::chrono::microseconds(500 * i));
    const std::string text = read("table.json");
    EXPECT_TRUE(text == "old" || text == fresh) << text.size() << " bytes";
  }
  EXPECT_GT(killed, 0);
}

// Killed at one place and another among the files that `tables` writes, which takes it a while.
TEST_F(Interrupted, FolderOfTablesHoldsOldFilesAndNewOnes) {
  ASSERT_EQ(run("tables --fn gelu -o fresh").code, 0);
  const std::vector<std::string> names = files_below(path("fresh"));
  int partly = 0;
  for (const size_t reached : {size_t{0}, names.size() / 2}) {
    fs::remove_all(path("tables"));
    fs::copy(path("fresh"), path("tables"), fs::copy_options::recursive);
    for (const std::string& name : names) write("tables/" + name, "old");
    const pid_t child = start({"tables", "--fn", "gelu", "-o", path("tables")});
    for (int i = 0; i < 60000 && read("tables/" + names[reached]) == "old"; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill_now(child);
    size_t old = 0;
    for (const std::string& name : names) {
      const std::string text = read("tables/" + name);
      old += text == "old";
      EXPECT_TRUE(text == "old" || text == read("fresh/" + name)) << name;
    }
    partly += old > 0 && old < names.size();
    EXPECT_LE(files_below(path("tables")).size(), names.size() + 1);  // one may have been under way
  }
  EXPECT_GT(partly, 0);
}

}  // namespace fewbit::interrupted_test
