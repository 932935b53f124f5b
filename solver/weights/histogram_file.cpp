#include "weights/histogram_file.hpp"

#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "weights/histogram.hpp"
#include "weights/open_file.hpp"
#include "weights/text_fields.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kLongestLine = 1024;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The fields of one line, none where it is empty or a comment. "1.5," has one field.
std::vector<std::string_view> fields_of(std::string_view line) {
  line = trimmed(line.substr(0, line.find('#')));
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    line = comma == std::string_view::npos ? std::string_view{} : trimmed(line.substr(comma + 1));
  }
  return fields;
}

class HistogramReader {
 public:
  HistogramReader(std::istream& in, const std::string& name) : in_(in), name_(name) {}

  WeightSpec read() {
    std::array<char, kLongestLine> buffer{};
    while (in_.getline(buffer.data(), buffer.size())) {
      ++line_;
      std::string_view text(buffer.data());
      if (line_ == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(3);
      const auto fields = fields_of(text);
      if (fields.empty()) continue;
      if (columns_ == 0 && !header_seen_ && looks_like_header(fields[0])) {
        header_seen_ = true;
        continue;
      }
      take(fields);
    }
    if (in_.bad()) throw Error("cannot be read to its end", name_);
    if (!in_.eof()) {
      ++line_;
      fail("is longer than " + std::to_string(kLongestLine) + " bytes");
    }
    return finish();
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error("line " + std::to_string(line_) + ": " + message, name_);
  }

  double number(std::string_view field, const char* what) const {
    const auto value = read_number(field);
    if (!value || std::isnan(*value)) {
      fail(std::string(what) + " '" + std::string(field) + "' is not a number");
    }
    if (std::isinf(*value)) fail(std::string(what) + " '" + std::string(field) + "' is infinite");
    return *value;
  }

  void take(const std::vector<std::string_view>& fields) {
    if (complete_) fail("follows the line with the right end");
    if (columns_ == 0 && fields.size() >= 2) columns_ = fields.size();
    if (fields.size() == 1 && columns_ == 2) {
      complete_ = true;
      return add_edge(number(fields[0], "edge"));
    }
    if (fields.size() != columns_ || columns_ > 3) {
      fail(std::to_string(fields.size()) + (fields.size() == 1 ? " column" : " columns") +
           ", accepted are edge,count or left,right,count");
    }
    if (columns_ == 2) {
      add_edge(number(fields[0], "edge"));
    } else {
      const double left = number(fields[0], "left edge");
      if (edges_.empty()) add_edge(left);
      if (left != edges_.back()) {
        fail("bin begins at " + shortest(left) + ", the one before ends at " +
             shortest(edges_.back()));
      }
      add_edge(number(fields[1], "right edge"));
    }
    add_count(number(fields.back(), "count"));
  }

  void add_edge(double edge) {
    if (!edges_.empty() && !(edge > edges_.back())) {
      fail("edges must ascend: " + shortest(edge) + " follows " + shortest(edges_.back()));
    }
    edges_.push_back(edge);
  }

  void add_count(double count) {
    if (count < 0.0) fail("count " + shortest(count) + " is negative");
    if (masses_.size() == kMaxBins) fail("more than " + std::to_string(kMaxBins) + " bins");
    masses_.push_back(count);
  }

  WeightSpec finish() {
    if (edges_.empty()) throw Error("is empty: no histogram", name_);
    if (columns_ == 2 && !complete_) {
      throw Error("the last line must hold the right end alone (truncated?)", name_);
    }
    check_histogram(edges_, masses_, name_);
    tidy_histogram(edges_, masses_);
    WeightSpec spec;
    spec.kind = "histogram";
    spec.edges = std::move(edges_);
    spec.masses = std::move(masses_);
    return spec;
  }

  std::istream& in_;
  const std::string& name_;
  std::vector<double> edges_;
  std::vector<double> masses_;
  size_t line_ = 0;
  size_t columns_ = 0;
  bool header_seen_ = false;
  bool complete_ = false;
};

}  // namespace

WeightSpec read_histogram(std::istream& in, const std::string& name) {
  return HistogramReader(in, name).read();
}

WeightSpec read_histogram_file(const std::string& path) {
  auto in = open_file(path);
  return read_histogram(in, path);
}

}  // namespace fewbit::solver
