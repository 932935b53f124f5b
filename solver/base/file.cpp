#include "base/file.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <tuple>

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

/// New content for `target`, in its folder. Where the system allows it has no name until it is
/// complete, so that not even a kill leaves anything behind.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target) : target_(target) {
    static std::atomic<unsigned> count{0};
    name_ = target + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(++count);
    const std::string folder = std::filesystem::path(target).parent_path().string();
    handle_ = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    named_ = handle_ < 0;
    if (named_) handle_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (handle_ < 0) fail(target_, "write");
    struct stat old {};
    if (::stat(target.c_str(), &old) == 0) std::ignore = ::fchmod(handle_, old.st_mode & 07777U);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (handle_ >= 0) ::close(handle_);
    if (named_) ::unlink(name_.c_str());
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
    if (!named_) {
      const std::string self = "/proc/self/fd/" + std::to_string(handle_);
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        fail(target_, "write");
      }
      named_ = true;
    }
    const int status = ::close(handle_);
    handle_ = -1;
    if (status != 0) fail(target_, "write");
    if (std::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, "replace");
    named_ = false;
  }

 private:
  std::string target_;
  std::string name_;
  int handle_ = -1;
  bool named_ = false;  ///< name_ exists
};

/// `path`, or where it leads to when it is a link: the link itself stays.
std::string behind_links(const std::string& path) {
  std::error_code status;
  if (!std::filesystem::is_symlink(path, status)) return path;
  const auto target = std::filesystem::canonical(path, status);
  return status ? path : target.string();
}

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
      throw Error("is larger than " + std::to_string(limit) + " bytes", path);
    }
  }
  if (in.bad()) fail(path, "read");
  return content;
}

void write_text_file(const std::string& path, const std::string& content) {
  if (path.empty()) throw Error("cannot write: the name of the file is empty");
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
  TemporaryFile file(behind_links(path));
  file.write(content);
  file.commit();
}

}  // namespace fewbit
