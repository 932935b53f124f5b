#include "expression/caret.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace fewbit::solver {

namespace {

unsigned byte_at(std::string_view text, size_t position) {
  return static_cast<unsigned char>(text[position]);
}

/// Length of the printable UTF-8 character at `position`; 0: none starts there.
size_t printable_length(std::string_view text, size_t position) {
  const unsigned lead = byte_at(text, position);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || position + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte_at(text, position + i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

void fail_at(std::string_view text, size_t position, const std::string& message) {
  constexpr size_t kBefore = 50;
  constexpr size_t kAfter = 30;
  size_t begin = position > kBefore ? position - kBefore : 0;
  // Not in the middle of a character.
  while (begin < position && begin > 0 && (byte_at(text, begin) & 0xc0) == 0x80) ++begin;
  const size_t end = std::min(text.size(), position + kAfter);
  std::string window = begin > 0 ? "..." : "";
  size_t columns = window.size();
  size_t caret = columns;
  for (size_t i = begin; i < end;) {
    if (i <= position) caret = columns;
    const size_t length = printable_length(text, i);
    const bool space = text[i] == '\t' || text[i] == '\n' || text[i] == '\r';
    window += length > 0 ? std::string(text.substr(i, length)) : space ? " " : "?";
    i += std::max<size_t>(1, length);
    ++columns;
  }
  if (position >= end) caret = columns;
  if (end < text.size()) window += "...";
  throw Error("expression: " + message + "\n  " + window + "\n  " + std::string(caret, ' ') + "^");
}

std::string character_at(std::string_view text, size_t position) {
  const size_t length = printable_length(text, position);
  if (length > 0) return "'" + std::string(text.substr(position, length)) + "'";
  constexpr char kDigits[] = "0123456789abcdef";
  const unsigned byte = byte_at(text, position);
  return std::string("byte 0x") + kDigits[byte >> 4] + kDigits[byte & 15];
}

}  // namespace fewbit::solver
