#include "base/file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace fewbit {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& action) {
  throw Error("cannot " + action + ": " + std::strerror(errno), path);
}

/// A temporary file beside its target; removed unless committed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : target_(target), name_(target + ".tmp." + std::to_string(::getpid())) {
    handle_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (handle_ < 0) fail(target_, "write");
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (handle_ >= 0) ::close(handle_);
    if (!committed_) ::unlink(name_.c_str());
  }

  void write(const std::string& content) {
    for (size_t done = 0; done < content.size();) {
      const ssize_t count = ::write(handle_, content.data() + done, content.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(target_, "write");
      done += static_cast<size_t>(count);
    }
  }

  void commit() {
    if (::fsync(handle_) != 0) fail(target_, "write");
    const int status = ::close(handle_);
    handle_ = -1;
    if (status != 0) fail(target_, "write");
    if (std::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, "replace");
    committed_ = true;
  }

 private:
  std::string target_;
  std::string name_;
  int handle_ = -1;
  bool committed_ = false;
};

}  // namespace

std::string read_text_file(const std::string& path, size_t limit) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) throw Error("is a folder, not a file", path);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "read");
  std::string content;
  std::string block(size_t{1} << 16, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    content.append(block, 0, static_cast<size_t>(in.gcount()));
    if (content.size() > limit) {
      throw Error("is larger than " + std::to_string(limit >> 20) + " MiB", path);
    }
  }
  if (in.bad()) fail(path, "read");
  return content;
}

void write_text_file(const std::string& path, const std::string& content) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code status;
  if (!folder.empty()) std::filesystem::create_directories(folder, status);
  if (status) throw Error("cannot create the folder: " + status.message(), path);
  if (std::filesystem::exists(path, status) && !std::filesystem::is_regular_file(path, status)) {
    // A device or a pipe cannot be replaced; write it directly.
    errno = 0;
    std::ofstream out(path, std::ios::binary);
    if (!(out << content).flush()) fail(path, "write");
    return;
  }
  TemporaryFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace fewbit
