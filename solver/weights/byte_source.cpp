#include "weights/byte_source.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/error.hpp"
#include "weights/open_file.hpp"

namespace fewbit::solver {

namespace {

class StreamSource final : public ByteSource {
 public:
  StreamSource(std::istream& in, std::string name)
      : ByteSource(std::move(name)), in_(in), begin_(in.tellg()) {
    in_.seekg(0, std::ios::end);
    const auto end = in_.tellg();
    in_.seekg(begin_);
    if (!in_ || begin_ < 0 || end < begin_) throw Error("cannot be read twice", this->name());
    size_ = static_cast<size_t>(end - begin_);
  }

  size_t read(std::span<char> bytes) override {
    in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (in_.bad()) throw Error("cannot be read to its end", name());
    return static_cast<size_t>(in_.gcount());
  }

  void rewind() override {
    in_.clear();
    in_.seekg(begin_);
  }

  size_t size() const override { return size_; }

 private:
  std::istream& in_;
  std::istream::pos_type begin_;
  size_t size_ = 0;
};

/// A stream and the source that reads it.
class OwningSource final : public ByteSource {
 public:
  OwningSource(std::unique_ptr<std::istream> in, const std::string& name)
      : ByteSource(name), in_(std::move(in)), source_(*in_, name) {}

  size_t read(std::span<char> bytes) override { return source_.read(bytes); }
  void rewind() override { source_.rewind(); }
  size_t size() const override { return source_.size(); }

 private:
  std::unique_ptr<std::istream> in_;
  StreamSource source_;
};

}  // namespace

std::unique_ptr<ByteSource> stream_source(std::istream& in, std::string name) {
  return std::make_unique<StreamSource>(in, std::move(name));
}

std::unique_ptr<ByteSource> file_source(const std::string& path) {
  auto in = std::make_unique<std::ifstream>(open_file(path));
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status)) return piped_source(*in, path);
  return std::make_unique<OwningSource>(std::move(in), path);
}

std::unique_ptr<ByteSource> piped_source(std::istream& in, const std::string& name, size_t limit) {
  std::string bytes;
  std::vector<char> block(size_t{1} << 16);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    bytes.append(block.data(), static_cast<size_t>(in.gcount()));
    if (bytes.size() > limit) {
      throw Error("holds more than " + std::to_string(limit) +
                      " bytes, which are kept in memory: write them to a file",
                  name);
    }
  }
  if (in.bad()) throw Error("cannot be read to its end", name);
  return std::make_unique<OwningSource>(std::make_unique<std::istringstream>(std::move(bytes)),
                                        name);
}

}  // namespace fewbit::solver
