// An .npz file is a zip archive with one .npy file for each array, stored or deflated. libzip takes
// care of the archive, its 64-bit sizes and checksums.
#include <zip.h>

#include "base/error.hpp"
#include "weights/byte_source.hpp"
#include "weights/open_file.hpp"

namespace fewbit::solver {

namespace {

constexpr std::string_view kEnding = ".npy";

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;

Archive open_archive(const std::string& path) {
  open_file(path);  // for its messages about folders and missing files
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw Error("is no .npz archive: " + reason, path);
  }
  return archive;
}

class NpzSource final : public ByteSource {
 public:
  NpzSource(const std::string& path, const std::string& key)
      : ByteSource(key.empty() ? path : path + ":" + key), archive_(open_archive(path)) {
    index_ = index_of(key);
    zip_stat_t status;
    zip_stat_init(&status);
    constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE;
    if (zip_stat_index(archive_.get(), index_, 0, &status) != 0 ||
        (status.valid & kNeeded) != kNeeded) {
      fail(zip_strerror(archive_.get()));
    }
    size_ = status.size;
    rewind();
  }

  size_t read(std::span<char> bytes) override {
    size_t done = 0;
    while (done < bytes.size()) {
      const auto count = zip_fread(entry_.get(), bytes.data() + done, bytes.size() - done);
      // At the end of an entry libzip compares its checksum.
      if (count < 0) fail(zip_file_strerror(entry_.get()));
      if (count == 0) break;
      done += static_cast<size_t>(count);
    }
    return done;
  }

  void rewind() override {
    entry_.reset(zip_fopen_index(archive_.get(), index_, 0));
    if (entry_ == nullptr) fail(zip_strerror(archive_.get()));
  }

  size_t size() const override { return size_; }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error("cannot be read from the archive: " + reason, name());
  }

  zip_uint64_t index_of(const std::string& key) const {
    const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive_.get(), 0));
    std::string keys;
    zip_uint64_t arrays = 0;
    zip_uint64_t last = 0;
    for (zip_uint64_t i = 0; i < count; ++i) {
      const char* text = zip_get_name(archive_.get(), i, ZIP_FL_ENC_RAW);
      std::string_view entry = text == nullptr ? std::string_view{} : text;
      if (!entry.ends_with(kEnding)) continue;
      entry.remove_suffix(kEnding.size());
      if (!key.empty() && entry == key) return i;
      last = i;
      if (++arrays <= 8) keys += (keys.empty() ? "" : ", ") + std::string(entry);
    }
    if (key.empty() && arrays == 1) return last;
    if (arrays > 8) keys += ", ...";
    if (arrays == 0) keys = "none";
    throw Error(key.empty() ? "which of its arrays? As in FILE.npz:KEY; it has: " + keys
                            : "has no array '" + key + "'; it has: " + keys,
                name());
  }

  Archive archive_;
  Entry entry_;
  zip_uint64_t index_ = 0;
  size_t size_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> npz_source(const std::string& path, const std::string& key) {
  return std::make_unique<NpzSource>(path, key);
}

}  // namespace fewbit::solver
