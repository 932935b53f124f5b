#include "codegen/literal.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace fewbit::codegen {

namespace {

std::string special(double value) {
  if (std::isnan(value)) return "NAN";
  return value > 0.0 ? "INFINITY" : "-INFINITY";
}

template <class Real>
std::string decimal(Real value) {
  if (!std::isfinite(value)) return special(value);
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string decimal_literal(float value) {
  return std::isfinite(value) ? decimal(value) + "f" : special(value);
}

std::string double_literal(double value) {
  return decimal(value);
}

std::string hex_literal(float value) {
  if (!std::isfinite(value)) return special(value);
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                 std::chars_format::hex)
                       .ptr;
  const std::string_view digits(buffer.data(), static_cast<size_t>(end - buffer.data()));
  return fmt::format("{}0x{}f", std::signbit(value) ? "-" : "", digits);
}

std::string comma_list(const std::vector<std::string>& items, size_t indent) {
  std::string text;
  size_t column = 101;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (column + 1 + item.size() > 98) {
      if (!text.empty()) text += '\n';
      text.append(indent, ' ').append(item);
      column = indent + item.size();
    } else {
      text.append(" ").append(item);
      column += 1 + item.size();
    }
  }
  return text;
}

}  // namespace fewbit::codegen
