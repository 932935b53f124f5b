#pragma once

#include <cstddef>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace fewbit::solver {

/// Bytes that can be read again from the start, whatever they come from.
class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;

  /// Fills the front of `bytes` and returns how many that were; fewer than asked for at the end
  /// only. Throws Error (name, reason).
  virtual size_t read(std::span<char> bytes) = 0;

  virtual void rewind() = 0;

  /// All of them, from the start to the end.
  virtual size_t size() const = 0;

  /// For messages: a file's path.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// What cannot be read twice is kept in memory, up to this many bytes.
inline constexpr size_t kMostPipedBytes = size_t{1} << 30;

/// A stream that can be sought in, from where it stands; it has to outlive the source.
std::unique_ptr<ByteSource> stream_source(std::istream& in, std::string name);

/// A file, by its path. A pipe is read whole, as piped_source does.
std::unique_ptr<ByteSource> file_source(const std::string& path);

/// All that `in` (standard input, a pipe) holds. Throws Error for more than `limit` bytes.
std::unique_ptr<ByteSource> piped_source(std::istream& in, const std::string& name,
                                         size_t limit = kMostPipedBytes);

/// The array `key` (its entry is KEY.npy) of an .npz archive, inflated while it is read. Without a
/// key the archive's only array. Throws Error where the archive is damaged or encrypted, or has no
/// such array (the message names those it has).
std::unique_ptr<ByteSource> npz_source(const std::string& path, const std::string& key);

}  // namespace fewbit::solver
