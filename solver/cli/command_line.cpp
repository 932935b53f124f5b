#include "cli/command_line.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace fewbit::solver {

namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool is_plain(char c) {
  constexpr std::string_view kSigns = "_@%+=:,./-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kSigns.find(c) != std::string_view::npos;
}

std::string quoted(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  const bool escapes = std::any_of(text.begin(), text.end(), is_control);
  std::string safe = escapes ? "$'" : "'";
  for (const char c : text) {
    if (escapes && is_control(c)) {
      // Three octal digits end by themselves, whatever follows.
      safe += fmt::format("\\{:03o}", static_cast<unsigned>(c));
    } else if (escapes && (c == '\'' || c == '\\')) {
      safe += std::string("\\") + c;
    } else {
      safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
  }
  return safe + "'";
}

}  // namespace

std::string command_line(int argc, const char* const* argv) {
  std::string line = "fewbit-solve";
  for (int i = 1; i < argc; ++i) line += " " + quoted(argv[i]);
  return line;
}

}  // namespace fewbit::solver
