#include "weights/npy_header.hpp"

#include <array>
#include <charconv>
#include <string_view>

#include "base/error.hpp"

namespace fewbit::solver {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kLongestHeader = size_t{1} << 16;

std::string read_bytes(std::istream& in, size_t count, const std::string& name) {
  std::string bytes(count, '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(count))) {
    throw Error("is truncated inside its .npy header", name);
  }
  return bytes;
}

/// The dictionary: a Python literal with exactly the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    expect('{');
    while (!accept('}')) {
      parse_entry(header);
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (position_ != text_.size()) fail("something follows the dictionary");
    for (size_t i = 0; i < kKeys.size(); ++i) {
      if (!seen_[i]) fail(std::string(kKeys[i]) + " is missing");
    }
    return header;
  }

 private:
  static constexpr std::array<std::string_view, 3> kKeys = {"descr", "fortran_order", "shape"};

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(".npy header: " + message, name_);
  }

  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) {
      ++position_;
    }
  }

  bool accept(char wanted) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) {
      fail(std::string("expected '") + wanted + "' at byte " + std::to_string(position_));
    }
  }

  std::string_view parse_string(const char* what) {
    const char quote = accept('\'') ? '\'' : '"';
    const bool open = quote == '\'' || accept('"');
    const size_t end = open ? text_.find(quote, position_) : std::string_view::npos;
    if (end == std::string_view::npos) fail(std::string(what) + " is not a string");
    const auto value = text_.substr(position_, end - position_);
    position_ = end + 1;
    return value;
  }

  void parse_entry(NpyHeader& header) {
    const auto key = parse_string("a key");
    size_t index = 0;
    while (index < kKeys.size() && kKeys[index] != key) ++index;
    if (index == kKeys.size()) fail("unknown key '" + std::string(key) + "'");
    if (seen_[index]) fail("two values for " + std::string(key));
    seen_[index] = true;
    expect(':');
    if (index == 0) header.item_bytes = parse_type();
    if (index == 1) header.fortran_order = parse_boolean();
    if (index == 2) header.shape = parse_shape();
  }

  size_t parse_type() {
    const auto type = parse_string("descr");
    if (type == "<f4") return 4;
    if (type == "<f8") return 8;
    fail("data type '" + std::string(type) + "', accepted are '<f4' and '<f8'");
  }

  bool parse_boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(position_).starts_with(word)) continue;
      position_ += word.size();
      return word == "True";
    }
    fail("fortran_order is neither True nor False");
  }

  std::vector<size_t> parse_shape() {
    std::vector<size_t> shape;
    expect('(');
    while (!accept(')')) {
      skip_space();
      size_t size = 0;
      const char* begin = text_.data() + position_;
      const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (status != std::errc{}) fail("a size in shape is not a number");
      position_ += static_cast<size_t>(end - begin);
      shape.push_back(size);
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }

  std::string_view text_;
  const std::string& name_;
  size_t position_ = 0;
  std::array<bool, 3> seen_{};
};

}  // namespace

NpyHeader read_npy_header(std::istream& in, const std::string& name) {
  std::string start(kMagic.size(), '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (in.gcount() == 0) throw Error("is empty", name);
  if (start != kMagic) throw Error("is not a .npy file: it does not begin with \\x93NUMPY", name);
  const std::string version = read_bytes(in, 2, name);
  if (version[0] < 1 || version[0] > 3 || version[1] != 0) {
    throw Error(".npy version " + std::to_string(static_cast<unsigned char>(version[0])) + "." +
                    std::to_string(static_cast<unsigned char>(version[1])) +
                    ", accepted are 1.0, 2.0 and 3.0",
                name);
  }
  const std::string length = read_bytes(in, version[0] == 1 ? 2 : 4, name);
  size_t bytes = 0;
  for (size_t i = 0; i < length.size(); ++i) {
    bytes |= size_t{static_cast<unsigned char>(length[i])} << (8 * i);
  }
  if (bytes > kLongestHeader) {
    throw Error(".npy header: " + std::to_string(bytes) + " bytes, at most " +
                    std::to_string(kLongestHeader) + " accepted",
                name);
  }
  return HeaderParser(read_bytes(in, bytes, name), name).parse();
}

}  // namespace fewbit::solver
