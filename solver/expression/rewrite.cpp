#include "expression/rewrite.hpp"

namespace fewbit::solver {

namespace {

bool is_one(const Node& node) {
  return node.op == Op::constant && node.value == 1.0;
}

/// The u of 1 + exp(u); -1 for anything else.
int exponent_of_sum(const TapeBuilder& tape, int index) {
  const Node& sum = tape[index];
  if (sum.op != Op::add) return -1;
  const Node& a = tape[sum.a];
  const Node& b = tape[sum.b];
  if (is_one(a) && b.op == Op::exp) return b.a;
  if (is_one(b) && a.op == Op::exp) return a.a;
  return -1;
}

int negated(TapeBuilder& tape, int index) {
  const Node node = tape[index];
  if (node.op == Op::negate) return node.a;
  return tape.apply(Op::negate, index);
}

/// -u is written as a product when u is: -1.702*x. The sign goes to its constant.
int negation(TapeBuilder& tape, int index) {
  const Node node = tape[index];
  const bool scaled = node.op == Op::multiply && tape[node.a].op == Op::constant;
  if (!scaled) return negated(tape, index);
  return tape.apply(Op::multiply, tape.constant(-tape[node.a].value), node.b);
}

}  // namespace

int add_rewritten(TapeBuilder& tape, const Node& node) {
  if (node.op == Op::log1p && tape[node.a].op == Op::exp) {
    return tape.apply(Op::softplus, tape[node.a].a);
  }
  if (node.op == Op::log) {
    const int u = exponent_of_sum(tape, node.a);
    if (u >= 0) return tape.apply(Op::softplus, u);
  }
  if (node.op == Op::divide) {
    const int u = exponent_of_sum(tape, node.b);
    const Node above = tape[node.a];
    if (u >= 0 && above.op == Op::exp && above.a == u) return tape.apply(Op::sigmoid, u);
    if (u >= 0) {
      const int sigmoid = tape.apply(Op::sigmoid, negation(tape, u));
      return is_one(above) ? sigmoid : tape.apply(Op::multiply, node.a, sigmoid);
    }
  }
  return tape.add(node);
}

}  // namespace fewbit::solver
