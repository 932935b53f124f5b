#include <fstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "tests/base/scratch_folder.hpp"

namespace fewbit::read_file_test {

std::string refusal(const std::string& path, size_t limit = 100) {
  try {
    read_text_file(path, limit);
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), path);
    return std::string(error.what()).substr(path.size() + 2);
  }
  return "accepted";
}

TEST(ReadTextFile, ReturnsEveryByte) {
  const ScratchFolder folder;
  const std::string content("a\0b\r\n\xff", 6);
  std::ofstream(folder.file("t"), std::ios::binary) << content;
  EXPECT_EQ(read_text_file(folder.file("t")), content);
}

TEST(ReadTextFile, AcceptsExactlyTheLimit) {
  const ScratchFolder folder;
  std::ofstream(folder.file("t")) << std::string(100, 'x');
  std::ofstream(folder.file("u")) << std::string(101, 'x');
  EXPECT_EQ(read_text_file(folder.file("t"), 100).size(), 100u);
  EXPECT_EQ(refusal(folder.file("u")), "is larger than 100 bytes");
}

TEST(ReadTextFile, StopsAtTheLimitOfAnEndlessDevice) {
  EXPECT_EQ(refusal("/dev/zero"), "is larger than 100 bytes");
}

TEST(ReadTextFile, NamesWhatCannotBeRead) {
  const ScratchFolder folder;
  EXPECT_EQ(refusal(folder.file("absent")), "cannot read: No such file or directory");
  EXPECT_EQ(refusal(folder.file("")), "is a folder, not a file");
}

}  // namespace fewbit::read_file_test
