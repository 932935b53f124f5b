#include "expression/decide.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "expression/evaluate.hpp"
#include "expression/rewrite.hpp"
#include "expression/tape.hpp"

namespace fewbit::solver {

namespace {

double decided_value(const Node& node, double a, double b) {
  switch (node.op) {
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greater_equal:
      return a >= b;
    case Op::equal:
      return a == b;
    default:
      return a != b;
  }
}

/// The value of a node whose operands are all constants of `tape`.
double folded_value(const Node& node, const TapeBuilder& tape) {
  std::vector<Node> small;
  Node alone = node;
  for (int* operand : {&alone.a, &alone.b, &alone.c}) {
    if (*operand < 0) continue;
    small.push_back(tape[*operand]);
    *operand = static_cast<int>(small.size()) - 1;
  }
  small.push_back(alone);
  return Expression(small).evaluate(0.0);
}

/// The part of f that node `index` computes.
Expression part_of(const Expression& f, int index) {
  TapeBuilder tape;
  for (int i = 0; i <= index; ++i) tape.add(f.nodes()[static_cast<size_t>(i)]);
  return Expression(tape.take(index));
}

/// What takes the place of a switching node at x; `copy` has its operands in the new tape.
int taken(const Expression& f, const Node& node, const Node& copy, double x, TapeBuilder& tape) {
  const auto value = [&](int operand) { return part_of(f, operand).evaluate(x); };
  const double a = value(node.a);
  const double b = node.b >= 0 && node.op != Op::where ? value(node.b) : 0.0;
  if (std::isnan(a) || std::isnan(b)) {
    throw Error("expression: a condition is not a number at x = " + shortest(x) + ": " +
                part_of(f, std::isnan(a) ? node.a : node.b).text());
  }
  switch (node.op) {
    case Op::abs:
      return a < 0.0 ? tape.apply(Op::negate, copy.a) : copy.a;
    case Op::sign:
      return tape.constant((a > 0.0) - (a < 0.0));
    case Op::where:
      return a != 0.0 ? copy.b : copy.c;
    case Op::min:
      return b < a ? copy.b : copy.a;
    case Op::max:
      return b > a ? copy.b : copy.a;
    case Op::clamp:
      return a < b ? copy.b : a > value(node.c) ? copy.c : copy.a;
    default:
      return tape.constant(decided_value(node, a, b));
  }
}

}  // namespace

/// Folds constants (parameters become numbers) and drops what nothing needs.
Expression simplify(const Expression& f) {
  TapeBuilder tape;
  std::vector<int> place;
  for (const Node& node : f.nodes()) {
    if (node.op == Op::parameter) {
      place.push_back(tape.constant(f.parameters()[static_cast<size_t>(node.parameter)].second));
      continue;
    }
    Node copy = node;
    bool constant = node.a >= 0;
    for (int* operand : {&copy.a, &copy.b, &copy.c}) {
      if (*operand < 0) continue;
      *operand = place[static_cast<size_t>(*operand)];
      constant = constant && tape[*operand].op == Op::constant;
    }
    const double value = constant ? folded_value(copy, tape) : NAN;
    if (std::isfinite(value)) {
      place.push_back(tape.constant(value));
    } else if (copy.op == Op::where && tape[copy.a].op == Op::constant) {
      place.push_back(tape[copy.a].value != 0.0 ? copy.b : copy.c);
    } else {
      place.push_back(add_rewritten(tape, copy));
    }
  }
  return Expression(tape.take(place.back()));
}

Expression condition_of(const Expression& f, size_t index, int part) {
  const Node& node = f.nodes()[index];
  if (node.op == Op::abs || node.op == Op::sign || node.op == Op::where) {
    return part_of(f, node.a);
  }
  TapeBuilder tape;
  for (size_t i = 0; i < index; ++i) tape.add(f.nodes()[i]);
  return Expression(tape.take(tape.apply(Op::subtract, node.a, part == 0 ? node.b : node.c)));
}

Expression decide(const Expression& f, size_t index, double x) {
  TapeBuilder tape;
  std::vector<int> place;
  for (size_t i = 0; i < f.nodes().size(); ++i) {
    const Node& node = f.nodes()[i];
    Node copy = node;
    for (int* operand : {&copy.a, &copy.b, &copy.c}) {
      if (*operand >= 0) *operand = place[static_cast<size_t>(*operand)];
    }
    place.push_back(i == index ? taken(f, node, copy, x, tape) : tape.add(copy));
  }
  return simplify(Expression(tape.take(place.back())));
}

int next_switch(const Expression& f) {
  const std::vector<Node>& nodes = f.nodes();
  std::vector<bool> holds(nodes.size());  // a switching node at or below
  const auto holds_at = [&](int i) { return i >= 0 && holds[static_cast<size_t>(i)]; };
  for (size_t i = 0; i < nodes.size(); ++i) {
    holds[i] = is_switching(nodes[i].op) || holds_at(nodes[i].a) || holds_at(nodes[i].b) ||
               holds_at(nodes[i].c);
  }
  std::vector<bool> needed(nodes.size());
  needed.back() = true;
  int next = -1;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!needed[i] || !holds[i]) continue;
    const Node& node = nodes[i];
    const bool lazy = node.op == Op::where;
    const bool below = holds_at(node.a) || (!lazy && (holds_at(node.b) || holds_at(node.c)));
    if (is_switching(node.op) && !below) next = static_cast<int>(i);
    for (const int operand : {node.a, lazy ? -1 : node.b, lazy ? -1 : node.c}) {
      if (operand >= 0) needed[static_cast<size_t>(operand)] = true;
    }
  }
  return next;
}

}  // namespace fewbit::solver
