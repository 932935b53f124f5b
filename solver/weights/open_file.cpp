#include "weights/open_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace fewbit::solver {

std::ifstream open_file(const std::string& path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) throw Error("is a folder, not a file", path);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(std::string("cannot read: ") + std::strerror(errno), path);
  return in;
}

}  // namespace fewbit::solver
