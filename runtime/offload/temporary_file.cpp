#include "offload/temporary_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fewbit::offload {

namespace {

/// -1 where there is none, with errno.
int open_unnamed(const std::string& folder) {
#ifdef O_TMPFILE
  constexpr mode_t kOwner = S_IRUSR | S_IWUSR;
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, kOwner);
  if (file >= 0) return file;
#endif
  // Not every file system has them.
  std::string path = folder + "/fewbit-XXXXXX";
  const int named = ::mkstemp(path.data());
  if (named >= 0) {
    ::unlink(path.c_str());
    ::fcntl(named, F_SETFD, FD_CLOEXEC);
  }
  return named;
}

/// Calls pwrite or pread until all is done.
template <class Step>
int in_steps(size_t bytes, const Step& step) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t count = step(done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return EIO;  // the end of a file that somebody else made shorter
    done += static_cast<size_t>(count);
  }
  return 0;
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& folder) : descriptor_(open_unnamed(folder)) {
  TORCH_CHECK(descriptor_ >= 0, "fewbit: no file for what leaves memory in ", folder, ": ",
              std::generic_category().message(errno), " (TMPDIR names another folder)");
}

TemporaryFile::~TemporaryFile() {
  ::close(descriptor_);
}

int TemporaryFile::write(int64_t offset, const void* from, size_t bytes) const {
  return in_steps(bytes, [&](size_t done) {
    return ::pwrite(descriptor_, static_cast<const char*>(from) + done, bytes - done,
                    static_cast<off_t>(offset + static_cast<int64_t>(done)));
  });
}

int TemporaryFile::read(int64_t offset, void* to, size_t bytes) const {
  return in_steps(bytes, [&](size_t done) {
    return ::pread(descriptor_, static_cast<char*>(to) + done, bytes - done,
                   static_cast<off_t>(offset + static_cast<int64_t>(done)));
  });
}

int64_t TemporaryFile::size() const {
  struct stat status = {};
  return ::fstat(descriptor_, &status) == 0 ? static_cast<int64_t>(status.st_size) : 0;
}

}  // namespace fewbit::offload
