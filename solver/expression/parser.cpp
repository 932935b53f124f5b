// A precedence-climbing parser. Grammar, loosest first:
//   comparison  sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
//   sum         product {("+" | "-") product}
//   product     unary {("*" | "/") unary}
//   unary       {"-" | "+"} power
//   power       primary ["^" unary]
//   primary     number | x | parameter | function "(" comparison {"," comparison} ")" |
//               "(" comparison ")"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "expression/caret.hpp"
#include "expression/tape.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kMaxLength = size_t{64} << 10;
constexpr int kMaxDepth = 200;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Parser {
 public:
  Parser(std::string_view text, const std::vector<Expression::Parameter>& parameters)
      : text_(text), parameters_(parameters) {}

  std::vector<Node> parse() {
    if (text_.size() > kMaxLength) {
      throw Error("expression: is longer than " + std::to_string(kMaxLength) + " characters");
    }
    const int root = comparison();
    const char next = peek();
    if (!at_end()) {
      const bool factor = is_letter(next) || is_digit(next) || next == '(' || next == '.';
      fail("unexpected " + character_at(text_, position_) +
           (factor ? " (an operator is missing)" : ""));
    }
    return tape_.take(root);
  }

  /// A power whose exponent depends on x became exp and log.
  bool rewrote_power() const { return rewrote_power_; }

 private:
  [[noreturn]] void fail(const std::string& message) const { fail_at(text_, position_, message); }

  void skip_space() {
    while (position_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }

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

  int comparison() {
    if (++depth_ > kMaxDepth) {
      fail("is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    const int left = sum();
    --depth_;
    static constexpr std::pair<std::string_view, Op> kOperators[] = {
        {"<=", Op::less_equal}, {">=", Op::greater_equal}, {"==", Op::equal},
        {"!=", Op::not_equal},  {"<", Op::less},           {">", Op::greater}};
    for (const auto& [token, op] : kOperators) {
      if (accept(token)) return tape_.apply(op, left, sum());
    }
    return left;
  }

  int sum() {
    int left = product();
    for (;;) {
      if (accept("+")) {
        left = tape_.apply(Op::add, left, product());
      } else if (accept("-")) {
        left = tape_.apply(Op::subtract, left, product());
      } else {
        return left;
      }
    }
  }

  int product() {
    int left = unary();
    for (;;) {
      if (accept("*")) {
        left = tape_.apply(Op::multiply, left, unary());
      } else if (accept("/")) {
        left = tape_.apply(Op::divide, left, unary());
      } else {
        return left;
      }
    }
  }

  int unary() {
    bool negative = false;
    for (;;) {
      if (accept("-")) {
        negative = !negative;
      } else if (!accept("+")) {
        break;
      }
    }
    const int value = power();
    return negative ? tape_.apply(Op::negate, value) : value;
  }

  int power() {
    const int base = primary();
    if (!accept("^")) return base;
    if (++depth_ > kMaxDepth) {
      fail("is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    const int exponent = unary();
    --depth_;
    if (!tape_.depends_on_x(exponent)) return tape_.apply(Op::power, base, exponent);
    rewrote_power_ = true;
    const int logarithm = tape_.apply(Op::log, base);
    return tape_.apply(Op::exp, tape_.apply(Op::multiply, exponent, logarithm));
  }

  int primary() {
    const char c = peek();
    if (c == '(') {
      ++position_;
      const int value = comparison();
      expect(')', "to close the bracket");
      return value;
    }
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return name();
    if (at_end()) fail("ends where a number, x, a parameter or a function is expected");
    fail("unexpected " + character_at(text_, position_));
  }

  int number() {
    double value = 0.0;
    const char* begin = text_.data() + position_;
    const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (status == std::errc::result_out_of_range) {
      fail("this number is beyond the range of double precision");
    }
    if (status != std::errc{}) fail("expected a number");
    position_ += static_cast<size_t>(end - begin);
    return tape_.constant(value);
  }

  int name() {
    const size_t start = position_;
    while (position_ < text_.size() &&
           (is_letter(text_[position_]) || is_digit(text_[position_]))) {
      ++position_;
    }
    const std::string word(text_.substr(start, position_ - start));
    if (peek() == '(') return call(word, start);
    if (word == "x") return tape_.variable();
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].first == word) return tape_.parameter(static_cast<int>(i));
    }
    unknown_value(word, start);
  }

  int call(const std::string& word, size_t start) {
    const std::vector<OpInfo>& functions = function_operations();
    const auto info = std::find_if(functions.begin(), functions.end(),
                                   [&](const OpInfo& f) { return word == f.name; });
    if (info == functions.end()) unknown_function(word, start);
    ++position_;
    int operands[3] = {-1, -1, -1};
    for (int i = 0; i < info->operands; ++i) {
      if (i > 0) expect(',', "(" + word + " takes " + std::to_string(info->operands) + " values)");
      operands[i] = comparison();
    }
    expect(')', "(" + word + " takes " + std::to_string(info->operands) +
                    (info->operands == 1 ? " value)" : " values)"));
    return tape_.apply(info->op, operands[0], operands[1], operands[2]);
  }

  bool is_value(const std::string& word) const {
    return word == "x" || std::any_of(parameters_.begin(), parameters_.end(),
                                      [&](const auto& p) { return p.first == word; });
  }

  [[noreturn]] void unknown_function(const std::string& word, size_t start) const {
    if (is_value(word))
      fail_at(text_, start, "'" + word + "' is no function (an operator is missing)");
    unknown(word, start, "function", function_names());
  }

  [[noreturn]] void unknown_value(const std::string& word, size_t start) const {
    std::vector<std::string> known = function_names();
    if (std::find(known.begin(), known.end(), word) != known.end()) {
      fail_at(text_, start, "'" + word + "' is a function: expected '(' behind it");
    }
    known.emplace_back("x");
    for (const auto& parameter : parameters_) known.push_back(parameter.first);
    unknown(word, start, "name", known);
  }

  static std::vector<std::string> function_names() {
    std::vector<std::string> names;
    for (const OpInfo& f : function_operations()) names.emplace_back(f.name);
    return names;
  }

  [[noreturn]] void unknown(const std::string& word, size_t start, const std::string& kind,
                            const std::vector<std::string>& known) const {
    constexpr size_t kShown = 40;
    std::string message = "unknown " + kind + " '" + word.substr(0, kShown);
    message += word.size() > kShown ? "...'" : "'";
    const std::vector<std::string> near = nearest_names(word.substr(0, 2 * kShown), known);
    for (size_t i = 0; i < near.size(); ++i) message += (i == 0 ? " (nearest: " : ", ") + near[i];
    fail_at(text_, start, message + (near.empty() ? "" : ")"));
  }

  std::string_view text_;
  const std::vector<Expression::Parameter>& parameters_;
  TapeBuilder tape_;
  size_t position_ = 0;
  int depth_ = 0;
  bool rewrote_power_ = false;
};

}  // namespace

Expression Expression::parse(std::string_view text, std::vector<Parameter> parameters) {
  Parser parser(text, parameters);
  std::vector<Node> nodes = parser.parse();
  Expression result(std::move(nodes), std::move(parameters));
  // What is read can be written down and read again.
  const std::string written = result.text();
  if (written.size() > kMaxLength) {
    throw Error("expression: is longer than " + std::to_string(kMaxLength) +
                " characters when written out");
  }
  if (parser.rewrote_power()) Parser(written, result.parameters()).parse();
  return result;
}

}  // namespace fewbit::solver
