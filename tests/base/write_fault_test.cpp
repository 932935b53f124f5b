// What is left when the writer dies, or the disk fills up, in the middle.

#include <csignal>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "tests/base/scratch_folder.hpp"

namespace fewbit::write_fault_test {

TEST(WriteTextFile, LeavesTheOldOrTheNewContentWhenKilledAtAnyTime) {
  const ScratchFolder folder;
  const std::string path = folder.file("t");
  const std::string content(size_t{32} << 20, 'b');
  write_text_file(path, "old");
  int cut_short = 0;
  for (useconds_t delay = 500; delay < 40000; delay += 1500) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      write_text_file(path, content);
      ::_exit(0);
    }
    ::usleep(delay);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    cut_short += WIFSIGNALED(status);
    const std::string now = read_text_file(path);
    ASSERT_TRUE(now == "old" || now == content) << now.size() << " bytes after " << delay << " us";
  }
  EXPECT_GT(cut_short, 0);
}

TEST(WriteTextFile, LeavesTheOldFileAndNoOtherWhenSpaceRunsOut) {
  const ScratchFolder folder;
  const std::string path = folder.file("t");
  write_text_file(path, "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message = "accepted";
  try {
    write_text_file(path, std::string(100000, 'b'));
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(message, path + ": cannot write: File too large");
  EXPECT_EQ(read_text_file(path), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

}  // namespace fewbit::write_fault_test
