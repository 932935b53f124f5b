// Floats, bare or behind a .npy header. The source's length is compared with what the header
// promises before the first number is read.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "weights/npy_header.hpp"
#include "weights/sample_reader.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kBlockBytes = size_t{1} << 16;

/// The number of items; throws where the product overflows what a file can hold.
size_t item_count(const NpyHeader& header, const std::string& name) {
  constexpr size_t kMost = size_t{1} << 59;
  if (std::count(header.shape.begin(), header.shape.end(), size_t{0}) > 0) return 0;
  size_t count = 1;
  for (const size_t size : header.shape) {
    if (size > kMost / count) throw Error(".npy header: the shape is too large", name);
    count *= size;
  }
  return count;
}

class BinaryReader final : public SampleReader {
 public:
  BinaryReader(std::unique_ptr<ByteSource> source, NpyHeader header, size_t count)
      : source_(std::move(source)), header_(std::move(header)), bytes_(kBlockBytes), count_(count) {
    if (count_ == 0) throw Error("is empty: no samples", source_->name());
  }

  size_t read(std::span<double> block) override {
    const size_t item = header_.type.bytes();
    const size_t count = std::min({block.size(), kBlockBytes / item, count_ - done_});
    const std::span bytes(bytes_.data(), count * item);
    if (source_->read(bytes) != bytes.size()) {
      throw Error("cannot be read to its end", source_->name());
    }
    read_items(header_.type, bytes, block.first(count));
    for (size_t i = 0; i < count; ++i) check_sample(block[i], done_ + i, source_->name());
    done_ += count;
    // An archive compares its checksum only when asked for what follows the last byte.
    if (done_ == count_) source_->read(std::span(bytes_.data(), 1));
    return count;
  }

  void rewind() override {
    source_->rewind();
    done_ = 0;
    for (size_t left = header_.bytes; left > 0;) {
      const std::span bytes(bytes_.data(), std::min(left, kBlockBytes));
      if (source_->read(bytes) != bytes.size()) {
        throw Error("was changed while it was read", source_->name());
      }
      left -= bytes.size();
    }
  }

  SampleShape shape() const override {
    if (header_.shape.size() != 2) return {};
    return {header_.shape[0], header_.shape[1], header_.fortran_order};
  }

 private:
  std::unique_ptr<ByteSource> source_;
  NpyHeader header_;
  std::vector<char> bytes_;
  size_t count_;
  size_t done_ = 0;
};

}  // namespace

std::unique_ptr<SampleReader> make_npy_reader(std::unique_ptr<ByteSource> source,
                                              bool integers_are_bf16) {
  const NpyHeader header = read_npy_header(*source, integers_are_bf16);
  const size_t count = item_count(header, source->name());
  const size_t needed = count * header.type.bytes();
  const size_t bytes = source->size() - std::min(source->size(), header.bytes);
  if (bytes < needed) {
    throw Error("is truncated: " + std::to_string(bytes) + " bytes of data, its shape needs " +
                    std::to_string(needed),
                source->name());
  }
  if (bytes > needed) {
    throw Error("has " + std::to_string(bytes - needed) + " bytes after its data", source->name());
  }
  return std::make_unique<BinaryReader>(std::move(source), header, count);
}

std::unique_ptr<SampleReader> make_raw_reader(std::unique_ptr<ByteSource> source, ItemType type) {
  const size_t bytes = source->size();
  const size_t count = bytes / type.bytes();
  if (bytes % type.bytes() != 0) {
    throw Error("holds " + std::to_string(bytes) + " bytes, not a multiple of " +
                    std::to_string(type.bytes()),
                source->name());
  }
  NpyHeader header;
  header.type = type;
  return std::make_unique<BinaryReader>(std::move(source), header, count);
}

}  // namespace fewbit::solver
