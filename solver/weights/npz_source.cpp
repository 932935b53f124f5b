// An .npz file is a zip archive with one .npy file for each array, stored or deflated. minizip,
// zlib's own, takes care of the archive, its 64-bit sizes and checksums.
#include <array>

#include <minizip/unzip.h>

#include "base/error.hpp"
#include "weights/byte_source.hpp"
#include "weights/open_file.hpp"

namespace fewbit::solver {

namespace {

constexpr std::string_view kEnding = ".npy";
constexpr uLong kEncrypted = 1;  // of an entry's flags

struct CloseArchive {
  void operator()(void* archive) const { unzClose(archive); }
};
using Archive = std::unique_ptr<void, CloseArchive>;

Archive open_archive(const std::string& path) {
  open_file(path);  // for its messages about folders and missing files
  Archive archive(unzOpen64(path.c_str()));
  if (archive == nullptr) throw Error("is no .npz archive: not a zip archive, or cut short", path);
  return archive;
}

std::string reason_of(int code) {
  switch (code) {
    case UNZ_CRCERROR:
      return "its checksum is another";
    case UNZ_BADZIPFILE:
      return "its entry is damaged, or compressed in another way than npz files are";
    case Z_DATA_ERROR:
    case Z_BUF_ERROR:
      return "its deflated data is damaged";
    default:
      return "minizip's error " + std::to_string(code);
  }
}

class NpzSource final : public ByteSource {
 public:
  NpzSource(const std::string& path, const std::string& key)
      : ByteSource(key.empty() ? path : path + ":" + key), archive_(open_archive(path)) {
    go_to(key);
    const unz_file_info64 info = current();
    if ((info.flag & kEncrypted) != 0) fail("it is encrypted");
    size_ = info.uncompressed_size;
    rewind();
  }

  size_t read(std::span<char> bytes) override {
    constexpr size_t kMost = size_t{1} << 30;  // minizip counts in int
    size_t done = 0;
    while (done < bytes.size() && position_ < size_) {
      const auto wanted = static_cast<unsigned>(std::min(bytes.size() - done, kMost));
      const int count = unzReadCurrentFile(archive_.get(), bytes.data() + done, wanted);
      if (count < 0) fail(reason_of(count));
      if (count == 0) fail("it ends early");
      done += static_cast<size_t>(count);
      position_ += static_cast<size_t>(count);
      // Closing compares the checksum of what was read.
      if (position_ == size_) check(unzCloseCurrentFile(archive_.get()));
    }
    return done;
  }

  void rewind() override {
    check(unzOpenCurrentFile(archive_.get()));  // from its start, open or not
    position_ = 0;
  }

  size_t size() const override { return size_; }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error("cannot be read from the archive: " + reason, name());
  }

  void check(int code) const {
    if (code != UNZ_OK) fail(reason_of(code));
  }

  /// Of the entry that minizip stands at; its name, where asked for.
  unz_file_info64 current(std::span<char> entry = {}) const {
    unz_file_info64 info;
    check(unzGetCurrentFileInfo64(archive_.get(), &info, entry.data(), entry.size(), nullptr, 0,
                                  nullptr, 0));
    return info;
  }

  void go_to(const std::string& key) {
    std::string keys;
    size_t arrays = 0;
    unz64_file_pos last{};
    std::array<char, 1 << 16> text{};  // the length has 16 bits
    int code = unzGoToFirstFile(archive_.get());
    for (; code == UNZ_OK; code = unzGoToNextFile(archive_.get())) {
      const unz_file_info64 info = current(text);
      std::string_view entry(text.data(), info.size_filename);
      if (!entry.ends_with(kEnding)) continue;
      entry.remove_suffix(kEnding.size());
      if (!key.empty() && entry == key) return;
      check(unzGetFilePos64(archive_.get(), &last));
      if (++arrays <= 8) keys += (keys.empty() ? "" : ", ") + std::string(entry);
    }
    if (code != UNZ_END_OF_LIST_OF_FILE) check(code);
    if (key.empty() && arrays == 1) return check(unzGoToFilePos64(archive_.get(), &last));
    if (arrays > 8) keys += ", ...";
    if (arrays == 0) keys = "none";
    throw Error(key.empty() ? "which of its arrays? As in FILE.npz:KEY; it has: " + keys
                            : "has no array '" + key + "'; it has: " + keys,
                name());
  }

  Archive archive_;
  size_t size_ = 0;
  size_t position_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> npz_source(const std::string& path, const std::string& key) {
  return std::make_unique<NpzSource>(path, key);
}

}  // namespace fewbit::solver
