#include "weights/npy_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kLongestHeader = size_t{1} << 16;

std::string read_bytes(ByteSource& source, size_t count) {
  std::string bytes(count, '\0');
  if (source.read(bytes) != count) {
    throw Error("is truncated inside its .npy header", source.name());
  }
  return bytes;
}

size_t little_endian(const std::string& bytes) {
  size_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

/// The dictionary: a Python literal with exactly the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name, bool integers_are_bf16)
      : text_(text), name_(name), integers_are_bf16_(integers_are_bf16) {}

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
    if (index == 0) header.type = parse_type();
    if (index == 1) header.fortran_order = parse_boolean();
    if (index == 2) header.shape = parse_shape();
  }

  ItemType parse_type() {
    const auto type = parse_string("descr");
    using Kind = ItemType::Kind;
    constexpr std::array<std::pair<std::string_view, Kind>, 4> kTypes = {
        {{"f2", Kind::f16}, {"f4", Kind::f32}, {"f8", Kind::f64}, {"V2", Kind::bf16}}};
    const char order = type.empty() ? '\0' : type.front();
    const auto kind = type.substr(std::min<size_t>(type.size(), 1));
    const bool ordered = order == '<' || order == '>';
    for (const auto& [text, value] : kTypes) {
      // An array of bfloat16 that was loaded without ml_dtypes is saved as '|V2'.
      const bool plain_void = order == '|' && value == Kind::bf16;
      if (kind == text && (ordered || plain_void)) return {value, order == '>'};
    }
    const bool integers = kind == "i2" || kind == "u2";
    if (integers && ordered && integers_are_bf16_) return {Kind::bf16, order == '>'};
    fail("data type '" + std::string(type) +
         "', accepted are '<f2', '<f4', '<f8' (float16, 32 and 64, also big-endian) and '<V2' "
         "(bfloat16)" +
         (integers ? "; bits of bfloat16 in integers are read with --sample-format npy:bf16" : ""));
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
  bool integers_are_bf16_;
  size_t position_ = 0;
  std::array<bool, 3> seen_{};
};

}  // namespace

NpyHeader read_npy_header(ByteSource& source, bool integers_are_bf16) {
  const std::string& name = source.name();
  std::string start(kNpyMagic.size(), '\0');
  if (source.read(start) == 0) throw Error("is empty", name);
  if (start != kNpyMagic)
    throw Error("is not a .npy file: it does not begin with \\x93NUMPY", name);
  const std::string version = read_bytes(source, 2);
  if (version[0] < 1 || version[0] > 3 || version[1] != 0) {
    throw Error(".npy version " + std::to_string(static_cast<unsigned char>(version[0])) + "." +
                    std::to_string(static_cast<unsigned char>(version[1])) +
                    ", accepted are 1.0, 2.0 and 3.0",
                name);
  }
  const size_t counter = version[0] == 1 ? 2 : 4;
  const size_t length = little_endian(read_bytes(source, counter));
  if (length > kLongestHeader) {
    throw Error(".npy header: " + std::to_string(length) + " bytes, at most " +
                    std::to_string(kLongestHeader) + " accepted",
                name);
  }
  const std::string dictionary = read_bytes(source, length);
  NpyHeader header = HeaderParser(dictionary, name, integers_are_bf16).parse();
  header.bytes = start.size() + version.size() + counter + length;
  return header;
}

}  // namespace fewbit::solver
