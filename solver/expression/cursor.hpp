#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "expression/caret.hpp"

namespace fewbit::solver {

/// A place in the text of an expression: spaces, tokens, words and numbers, errors with a caret.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[noreturn]] void fail(const std::string& message) const { fail_at(text_, position_, message); }
  [[noreturn]] void fail_from(size_t start, const std::string& message) const {
    fail_at(text_, start, message);
  }

  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  size_t position() const { return position_; }
  bool at_end() const { return position_ >= text_.size(); }

  /// The next character that is no space; '\0' at the end.
  char peek() {
    skip_space();
    return at_end() ? '\0' : text_[position_];
  }

  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }

  void expect(char c, const std::string& where) {
    if (peek() != c) fail("expected '" + std::string(1, c) + "' " + where);
    ++position_;
  }

  [[noreturn]] void fail_unexpected(const std::string& hint = "") const {
    fail("unexpected " + character_at(text_, position_) + hint);
  }

  /// Letters and digits; empty where no letter starts it.
  std::string word() {
    const size_t start = position_;
    if (at_end() || !is_letter(text_[position_])) return "";
    while (!at_end() && (is_letter(text_[position_]) || is_digit(text_[position_]))) ++position_;
    return std::string(text_.substr(start, position_ - start));
  }

  /// NAME of "NAME =", which is read; empty, and nothing is read, where anything else stands.
  std::string name_of_value() {
    skip_space();
    const size_t start = position_;
    std::string name = word();
    if (!name.empty() && peek() == '=' && text_.substr(position_, 2) != "==") {
      ++position_;
      return name;
    }
    position_ = start;
    return "";
  }

  double number() {
    double value = 0.0;
    const char* begin = text_.data() + position_;
    const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (status == std::errc::result_out_of_range) {
      fail("this number is beyond the range of double precision");
    }
    if (status != std::errc{}) fail("expected a number");
    position_ += static_cast<size_t>(end - begin);
    return value;
  }

 private:
  void skip_space() {
    while (!at_end() &&
           std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace fewbit::solver
