#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace fewbit::solver {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// All of `field` as one decimal number, nothing where it is something else.
inline std::optional<double> read_number(std::string_view field) {
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  double value = 0.0;
  const char* end = field.data() + field.size();
  const auto [stop, status] = std::from_chars(field.data(), end, value);
  if (status != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// A header's first field: a word, quoted or not, and no number ("nan" is one).
inline bool looks_like_header(std::string_view field) {
  if (field.empty() || read_number(field)) return false;
  const auto first = static_cast<unsigned char>(field.front());
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  return letter || first == '"' || first == '\'' || first == '_' || first >= 0x80;
}

}  // namespace fewbit::solver
