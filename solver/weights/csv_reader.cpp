// Numbers as text. A single line may hold all of them, so the unit of work is the field.
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "weights/sample_reader.hpp"
#include "weights/text_fields.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kBlockBytes = size_t{1} << 16;
constexpr size_t kLongestField = 400;  // every double written out in full without an exponent fits
constexpr int kEnd = -1;

class CsvReader final : public SampleReader {
 public:
  explicit CsvReader(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), bytes_(kBlockBytes) {
    skip_header();
  }

  size_t read(std::span<double> block) override {
    size_t count = 0;
    while (count < block.size() && next_field()) {
      const auto value = read_number(field_);
      if (!value) fail("'" + field_ + "' is not a number");
      check_sample(*value, index_++, source_->name());
      block[count++] = *value;
    }
    if (index_ == 0) throw Error("is empty: no samples", source_->name());
    return count;
  }

  void rewind() override {
    restart();
    skip_header();
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error("line " + std::to_string(line_) + ": " + message, source_->name());
  }

  void restart() {
    source_->rewind();
    position_ = filled_ = index_ = 0;
    line_ = 1;
    field_before_comma_ = false;
    for (const char byte : kByteOrderMark) {
      if (peek() != static_cast<unsigned char>(byte)) break;
      ++position_;
    }
  }

  /// The first line that is neither empty nor a comment is left out where it begins with a word.
  void skip_header() {
    restart();
    if (!next_field()) return;
    if (!looks_like_header(field_)) return restart();
    if (peek() != '\n' && peek() != kEnd) skip_line();
  }

  int peek() {
    if (position_ == filled_) {
      filled_ = source_->read(bytes_);
      position_ = 0;
    }
    return filled_ == 0 ? kEnd : static_cast<unsigned char>(bytes_[position_]);
  }

  void skip_line() {
    while (peek() != '\n' && peek() != kEnd) ++position_;
  }

  static bool ends_field(int byte) {
    return byte == kEnd || byte == ',' || byte == '\n' || byte == '#' || is_blank(byte);
  }
  static bool is_blank(int byte) { return byte == ' ' || byte == '\t' || byte == '\r'; }

  /// Moves to the next field and collects it; false at the end.
  bool next_field() {
    for (int byte = peek(); byte != kEnd; byte = peek()) {
      if (!ends_field(byte)) {
        collect_field();
        return true;
      }
      skip_separator(byte);
    }
    return false;
  }

  void skip_separator(int byte) {
    if (byte == '#') return skip_line();
    if (byte == ',' && !field_before_comma_) fail("a field is empty");
    if (byte == ',' || byte == '\n') field_before_comma_ = false;
    if (byte == '\n') ++line_;
    ++position_;
  }

  void collect_field() {
    field_.clear();
    for (int byte = peek(); !ends_field(byte); byte = peek()) {
      if (field_.size() == kLongestField) {
        fail("'" + field_.substr(0, 20) + "...' is not a number");
      }
      field_.push_back(static_cast<char>(byte));
      ++position_;
    }
    field_before_comma_ = true;
  }

  std::unique_ptr<ByteSource> source_;
  std::vector<char> bytes_;
  std::string field_;
  size_t position_ = 0;
  size_t filled_ = 0;
  size_t index_ = 0;
  size_t line_ = 1;
  bool field_before_comma_ = false;
};

}  // namespace

std::unique_ptr<SampleReader> make_csv_reader(std::unique_ptr<ByteSource> source) {
  return std::make_unique<CsvReader>(std::move(source));
}

}  // namespace fewbit::solver
