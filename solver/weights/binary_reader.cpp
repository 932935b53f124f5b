// Little-endian floats, bare or behind a .npy header. The stream's length is compared with what the
// header promises before the first number is read.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "weights/npy_header.hpp"
#include "weights/sample_reader.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kBlockBytes = size_t{1} << 16;

template <class Bits>
Bits little_endian(const char* bytes) {
  Bits bits = 0;
  for (size_t i = 0; i < sizeof(Bits); ++i) {
    bits |= static_cast<Bits>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return bits;
}

/// Bytes from here to the end.
size_t remaining_bytes(std::istream& in, const std::string& name) {
  const auto here = in.tellg();
  in.seekg(0, std::ios::end);
  const auto end = in.tellg();
  in.seekg(here);
  if (!in || here < 0 || end < here) throw Error("cannot be read twice (a pipe?)", name);
  return static_cast<size_t>(end - here);
}

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
  BinaryReader(std::istream& in, SampleFormat format, const std::string& name)
      : in_(in), name_(name), bytes_(kBlockBytes) {
    if (format == SampleFormat::npy) header_ = read_npy_header(in, name);
    const size_t bytes = remaining_bytes(in, name);
    count_ = bytes / header_.item_bytes;
    if (format == SampleFormat::npy) count_ = item_count(header_, name);
    const size_t needed = count_ * header_.item_bytes;
    if (format == SampleFormat::raw && bytes != needed) {
      throw Error("holds " + std::to_string(bytes) + " bytes, not a multiple of 4", name);
    }
    if (bytes < needed) {
      throw Error("is truncated: " + std::to_string(bytes) + " bytes of data, its shape needs " +
                      std::to_string(needed),
                  name);
    }
    if (bytes > needed) {
      throw Error("has " + std::to_string(bytes - needed) + " bytes after its data", name);
    }
    if (count_ == 0) throw Error("is empty: no samples", name);
    begin_ = in.tellg();
  }

  size_t read(std::span<double> block) override {
    const size_t fitting = std::min(block.size(), kBlockBytes / header_.item_bytes);
    const size_t count = std::min(fitting, count_ - done_);
    const size_t bytes = count * header_.item_bytes;
    if (!in_.read(bytes_.data(), static_cast<std::streamsize>(bytes))) {
      throw Error("cannot be read to its end", name_);
    }
    for (size_t i = 0; i < count; ++i) {
      block[i] = item(i);
      check_sample(block[i], done_ + i, name_);
    }
    done_ += count;
    return count;
  }

  void rewind() override {
    in_.clear();
    in_.seekg(begin_);
    done_ = 0;
  }

  SampleShape shape() const override {
    if (header_.shape.size() != 2) return {};
    return {header_.shape[0], header_.shape[1], header_.fortran_order};
  }

 private:
  double item(size_t i) const {
    if (header_.item_bytes == 8) {
      return std::bit_cast<double>(little_endian<std::uint64_t>(bytes_.data() + 8 * i));
    }
    return double{std::bit_cast<float>(little_endian<std::uint32_t>(bytes_.data() + 4 * i))};
  }

  std::istream& in_;
  std::string name_;
  NpyHeader header_{.item_bytes = 4, .fortran_order = false, .shape = {}};
  std::vector<char> bytes_;
  std::istream::pos_type begin_{};
  size_t count_ = 0;
  size_t done_ = 0;
};

}  // namespace

std::unique_ptr<SampleReader> make_binary_reader(std::istream& in, SampleFormat format,
                                                 const std::string& name) {
  return std::make_unique<BinaryReader>(in, format, name);
}

}  // namespace fewbit::solver
