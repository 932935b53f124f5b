#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"

namespace fewbit {

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replace = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string counted(size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

double parse_number(std::string_view text, std::string_view what) {
  // from_chars knows no plus sign; "+-1" is no number.
  const bool plus = text.starts_with('+') && !text.starts_with("+-");
  const std::string_view digits = plus ? text.substr(1) : text;
  double value = 0.0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = end == digits.data() + digits.size();
  if (whole && status == std::errc::result_out_of_range) {
    throw Error(std::string(what) + ": '" + std::string(text) +
                "' is beyond the range of double precision");
  }
  if (status != std::errc{} || !whole || std::isnan(value)) {
    throw Error(std::string(what) + ": '" + std::string(text) + "' is not a number");
  }
  return value;
}

std::string digest(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

std::vector<std::string> nearest_names(std::string_view word,
                                       const std::vector<std::string>& candidates) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const auto& name : candidates) ranked.emplace_back(edit_distance(word, name), name);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (const auto& [distance, name] : ranked) {
    if (names.size() < 3 && distance <= std::max<size_t>(2, word.size() / 2)) names.push_back(name);
  }
  return names;
}

}  // namespace fewbit
