#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "tests/base/scratch_folder.hpp"

namespace fewbit::write_file_test {

std::string refusal(const std::string& path) {
  try {
    write_text_file(path, "new");
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), path);
    return std::string(error.what()).substr(path.empty() ? 0 : path.size() + 2);
  }
  return "accepted";
}

TEST(WriteTextFile, ReplacesTheContentAndLeavesNothingElse) {
  const ScratchFolder folder;
  write_text_file(folder.file("t"), std::string(100000, 'a'));
  write_text_file(folder.file("t"), "new");
  EXPECT_EQ(read_text_file(folder.file("t")), "new");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WriteTextFile, CreatesMissingFolders) {
  const ScratchFolder folder;
  write_text_file(folder.file("a/b/t"), "new");
  EXPECT_EQ(read_text_file(folder.file("a/b/t")), "new");
}

TEST(WriteTextFile, KeepsThePermissionsOfTheOldFile) {
  const ScratchFolder folder;
  write_text_file(folder.file("t"), "old");
  ASSERT_EQ(::chmod(folder.file("t").c_str(), 0600), 0);
  write_text_file(folder.file("t"), "new");
  struct stat status {};
  ASSERT_EQ(::stat(folder.file("t").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(WriteTextFile, WritesThroughALinkAndKeepsIt) {
  const ScratchFolder folder;
  write_text_file(folder.file("real"), "old");
  std::filesystem::create_symlink("real", folder.file("link"));
  write_text_file(folder.file("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(read_text_file(folder.file("real")), "new");
}

TEST(WriteTextFile, RefusesAFolderAsTarget) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.file("d"));
  EXPECT_EQ(refusal(folder.file("d")), "cannot write: Is a directory");
  EXPECT_TRUE(std::filesystem::is_directory(folder.file("d")));
}

TEST(WriteTextFile, RefusesAPathBelowARegularFile) {
  const ScratchFolder folder;
  write_text_file(folder.file("f"), "old");
  EXPECT_EQ(refusal(folder.file("f/t")), "cannot create the folder: Not a directory");
  EXPECT_EQ(read_text_file(folder.file("f")), "old");
}

TEST(WriteTextFile, RefusesAFullDevice) {
  EXPECT_EQ(refusal("/dev/full"), "cannot write: No space left on device");
}

TEST(WriteTextFile, RefusesAnEmptyName) {
  EXPECT_EQ(refusal(""), "cannot write: the name of the file is empty");
}

}  // namespace fewbit::write_file_test
