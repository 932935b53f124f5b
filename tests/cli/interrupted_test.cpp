#include <chrono>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cli/program.hpp"

namespace fewbit {

namespace {

/// Starts fewbit-solve without a shell between, kills it after `delay`; true if it was still alive.
bool run_and_kill(const std::string& output, std::chrono::microseconds delay) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::execl(FEWBIT_SOLVE, "fewbit-solve", "--fn", "gelu", "--levels", "64", "-o", output.c_str(),
            static_cast<char*>(nullptr));
    ::_exit(127);
  }
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

}  // namespace

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

}  // namespace fewbit
