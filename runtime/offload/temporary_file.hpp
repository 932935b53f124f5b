#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fewbit::offload {

/// A file without a name, which is gone with the process at the latest. Several threads may read
/// and write at a time.
class TemporaryFile {
 public:
  /// Throws c10::Error naming the folder.
  explicit TemporaryFile(const std::string& folder);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// 0, or what errno was.
  int write(int64_t offset, const void* from, size_t bytes) const;
  int read(int64_t offset, void* to, size_t bytes) const;

  /// As the file system says, holes included.
  int64_t size() const;

 private:
  int descriptor_;
};

}  // namespace fewbit::offload
