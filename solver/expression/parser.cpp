// A precedence-climbing parser. Grammar, loosest first:
//   comparison  sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
//   sum         product {("+" | "-") product}
//   product     unary {("*" | "/") unary}
//   unary       {"-" | "+"} power
//   power       primary ["^" unary]
//   primary     number | name | function "(" value {"," value} ")" | "(" comparison ")"
//   value       comparison | parameter "=" comparison

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "base/text.hpp"
#include "expression/cursor.hpp"
#include "expression/evaluate.hpp"
#include "expression/tape.hpp"
#include "expression/vocabulary.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kMaxLength = size_t{64} << 10;
constexpr int kMaxDepth = 200;

std::string names_of(const std::vector<Expression::Parameter>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Parser {
 public:
  Parser(std::string_view text, const Vocabulary& words,
         const std::vector<Expression::Parameter>& parameters, TapeBuilder& tape)
      : in_(text), words_(words), parameters_(parameters), tape_(tape) {}

  /// The node of the whole text.
  int parse() {
    const int root = comparison();
    const char next = in_.peek();
    if (!in_.at_end()) {
      const bool factor =
          Cursor::is_letter(next) || Cursor::is_digit(next) || next == '(' || next == '.';
      in_.fail_unexpected(factor ? " (an operator is missing)" : "");
    }
    return root;
  }

  /// Something was written that the tape has in another form.
  bool rewrote() const { return rewrote_; }

 private:
  void descend() {
    if (++depth_ > kMaxDepth) {
      in_.fail("is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
  }

  int comparison() {
    descend();
    const int left = sum();
    --depth_;
    static constexpr std::pair<std::string_view, Op> kOperators[] = {
        {"<=", Op::less_equal}, {">=", Op::greater_equal}, {"==", Op::equal},
        {"!=", Op::not_equal},  {"<", Op::less},           {">", Op::greater}};
    for (const auto& [token, op] : kOperators) {
      if (in_.accept(token)) return tape_.apply(op, left, sum());
    }
    return left;
  }

  int sum() {
    int left = product();
    for (;;) {
      if (in_.accept("+")) {
        left = tape_.apply(Op::add, left, product());
      } else if (in_.accept("-")) {
        left = tape_.apply(Op::subtract, left, product());
      } else {
        return left;
      }
    }
  }

  int product() {
    int left = unary();
    for (;;) {
      if (in_.accept("*")) {
        left = tape_.apply(Op::multiply, left, unary());
      } else if (in_.accept("/")) {
        left = tape_.apply(Op::divide, left, unary());
      } else {
        return left;
      }
    }
  }

  int unary() {
    bool negative = false;
    for (;;) {
      if (in_.accept("-")) {
        negative = !negative;
      } else if (!in_.accept("+")) {
        break;
      }
    }
    const int value = power();
    return negative ? tape_.apply(Op::negate, value) : value;
  }

  int power() {
    const int base = primary();
    if (!in_.accept("^")) return base;
    descend();
    const int exponent = unary();
    --depth_;
    if (!tape_.depends_on_x(exponent)) return tape_.apply(Op::power, base, exponent);
    rewrote_ = true;
    const Node below = tape_[base];
    if (below.op == Op::constant && below.value == std::numbers::e) {
      return tape_.apply(Op::exp, exponent);
    }
    const int logarithm = tape_.apply(Op::log, base);
    return tape_.apply(Op::exp, tape_.apply(Op::multiply, exponent, logarithm));
  }

  int primary() {
    const char c = in_.peek();
    if (in_.accept("(")) {
      const int value = comparison();
      in_.expect(')', "to close the bracket");
      return value;
    }
    if (Cursor::is_digit(c) || c == '.') return tape_.constant(in_.number());
    if (Cursor::is_letter(c)) return name();
    if (in_.at_end()) in_.fail("ends where a number, x, a parameter or a function is expected");
    in_.fail_unexpected();
  }

  int name() {
    const size_t start = in_.position();
    const std::string word = in_.word();
    if (in_.peek() == '(') return call(word, start);
    return words_.value(word, start, in_);
  }

  int call(const std::string& word, size_t start) {
    const Callee callee = words_.function(word, start, in_);
    const size_t count = callee.values();
    std::string takes = "(" + word + " takes " + std::to_string(count);
    takes += count == 1 ? " value" : " values";
    if (!callee.parameters().empty()) takes += ", then " + names_of(callee.parameters());
    takes += ')';
    in_.expect('(', takes);
    std::vector<int> operands;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) in_.expect(',', takes);
      operands.push_back(comparison());
    }
    const std::vector<int> parameters = read_parameters(word, callee.parameters());
    in_.expect(')', takes);
    const bool plain =
        std::all_of(parameters.begin(), parameters.end(), [](int p) { return p < 0; });
    if (callee.operation == nullptr || !plain) {
      return put_body(*callee.definition, operands, parameters, start);
    }
    operands.resize(3, -1);
    return tape_.apply(callee.operation->op, operands[0], operands[1], operands[2]);
  }

  /// The nodes of the parameters that are given, -1 for others.
  std::vector<int> read_parameters(const std::string& function,
                                   const std::vector<Expression::Parameter>& known) {
    std::vector<int> nodes(known.size(), -1);
    bool named = false;
    for (size_t i = 0; i < known.size() && in_.accept(","); ++i) {
      in_.peek();
      const size_t start = in_.position();
      const std::string name = in_.name_of_value();
      if (name.empty() && named) in_.fail("expected NAME=VALUE behind another one");
      named = named || !name.empty();
      const auto place = name.empty()
                             ? known.begin() + static_cast<std::ptrdiff_t>(i)
                             : std::find_if(known.begin(), known.end(),
                                            [&](const auto& p) { return p.first == name; });
      if (place == known.end()) {
        in_.fail_from(start, function + " has no parameter '" + name.substr(0, 40) +
                                 "' (accepted: " + names_of(known) + ")");
      }
      int& node = nodes[static_cast<size_t>(place - known.begin())];
      if (node >= 0) in_.fail_from(start, place->first + " is given twice");
      node = comparison();
      if (tape_.depends_on_x(node)) {
        in_.fail_from(start, place->first + " of " + function + " must not depend on x");
      }
      if (!std::isfinite(constant_at(node))) {
        in_.fail_from(start, place->first + " of " + function + " is not finite");
      }
    }
    return nodes;
  }

  double constant_at(int node) const {
    return Expression(tape_.take(node), parameters_).evaluate(0.0);
  }

  /// The definition's body with the nodes of what it is called with.
  int put_body(const Definition& definition, const std::vector<int>& operands,
               const std::vector<int>& given, size_t start) {
    ValueNames names;
    for (size_t i = 0; i < operands.size(); ++i) {
      names.emplace_back(definition.arguments[i], [node = operands[i]] { return node; });
    }
    std::vector<Expression::Parameter> values = definition.parameters;
    for (size_t i = 0; i < values.size(); ++i) {
      if (given[i] >= 0) values[i].second = constant_at(given[i]);
      const int node = given[i] >= 0 ? given[i] : tape_.constant(values[i].second);
      names.emplace_back(values[i].first, [node] { return node; });
    }
    try {
      if (definition.check) definition.check(values);
    } catch (const Error& error) {
      in_.fail_from(start, error.what());
    }
    rewrote_ = true;
    const Library none;
    return Parser(definition.body, Vocabulary(std::move(names), none), parameters_, tape_).parse();
  }

  Cursor in_;
  const Vocabulary& words_;
  const std::vector<Expression::Parameter>& parameters_;
  TapeBuilder& tape_;
  int depth_ = 0;
  bool rewrote_ = false;
};

struct Parsed {
  std::vector<Node> nodes;
  bool rewrote;
};

Parsed parse_once(std::string_view text, const std::vector<Expression::Parameter>& parameters,
                  const Library& library) {
  if (text.size() > kMaxLength) {
    throw Error("expression: is longer than " + std::to_string(kMaxLength) + " characters");
  }
  TapeBuilder tape;
  const Vocabulary words(names_of_values(parameters, tape), library);
  Parser parser(text, words, parameters, tape);
  const int root = parser.parse();
  return {tape.take(root), parser.rewrote()};
}

/// How many nodes the text names, each as often as it stands there.
double written_nodes(const std::vector<Node>& nodes) {
  std::vector<double> count;
  for (const Node& node : nodes) {
    double sum = 1.0;
    for (const int operand : {node.a, node.b, node.c}) {
      if (operand >= 0) sum += count[static_cast<size_t>(operand)];
    }
    count.push_back(sum);
  }
  return count.back();
}

/// The text of f, which a body that stands in many places makes long.
std::string written(const Expression& f) {
  // Counted before it is written: it may be longer than memory.
  std::string text = written_nodes(f.nodes()) <= kMaxLength ? f.text() : "";
  if (text.empty() || text.size() > kMaxLength) {
    throw Error("expression: is longer than " + std::to_string(kMaxLength) +
                " characters when written out");
  }
  return text;
}

}  // namespace

Expression Expression::parse(std::string_view text, std::vector<Parameter> parameters) {
  return parse(text, std::move(parameters), Library{});
}

Expression Expression::parse(std::string_view text, std::vector<Parameter> parameters,
                             const Library& library) {
  Parsed parsed = parse_once(text, parameters, library);
  Expression result(std::move(parsed.nodes), std::move(parameters));
  // What is read can be written down and read again, as the same tape.
  const std::string again = written(result);
  if (!parsed.rewrote) return result;
  return Expression(parse_once(again, result.parameters(), Library{}).nodes, result.parameters());
}

}  // namespace fewbit::solver
