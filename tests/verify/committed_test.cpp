#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "verify/verify.hpp"

namespace fewbit::solver {
namespace {

std::vector<std::string> committed_tables() {
  std::vector<std::string> paths;
  const std::filesystem::path folder = std::filesystem::path(FEWBIT_SOURCE_DIR) / "tables";
  if (!std::filesystem::exists(folder)) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(CommittedTables, AllVerify) {
  const auto paths = committed_tables();
  if (paths.empty()) GTEST_SKIP() << "tables/ is empty";
  for (const std::string& path : paths) {
    for (const auto& [claim, holds, detail] : verify_file(path)) {
      EXPECT_TRUE(holds) << path << ": " << claim << ": " << detail;
    }
  }
}

}  // namespace
}  // namespace fewbit::solver
