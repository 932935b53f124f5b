#include "codegen/formula.hpp"

namespace fewbit::codegen {

namespace {

using solver::Op;

Kind comparison_of(Op op) {
  switch (op) {
    case Op::less:
      return Kind::less;
    case Op::less_equal:
      return Kind::less_equal;
    case Op::greater:
      return Kind::greater;
    case Op::greater_equal:
      return Kind::greater_equal;
    case Op::equal:
      return Kind::equal;
    default:
      return Kind::not_equal;
  }
}

int translate_call(Formula& formula, Op op, int a) {
  switch (op) {
    case Op::abs:
      return formula.call(Kind::abs, a);
    case Op::sqrt:
      return formula.call(Kind::sqrt, a);
    case Op::exp:
      return formula.call(Kind::exp, a);
    case Op::expm1:
      return formula.call(Kind::expm1, a);
    case Op::log:
      return formula.call(Kind::log, a);
    case Op::log1p:
      return formula.call(Kind::log1p, a);
    case Op::tanh:
      return formula.call(Kind::tanh, a);
    case Op::sigmoid:
      return formula.call(Kind::sigmoid, a);
    case Op::softplus:
      return formula.call(Kind::softplus, a);
    case Op::erf:
      return formula.call(Kind::erf, a);
    case Op::sin:
      return formula.call(Kind::sin, a);
    case Op::cos:
      return formula.call(Kind::cos, a);
    case Op::atan:
      return formula.call(Kind::atan, a);
    default:
      return formula.call(Kind::normcdf, a);
  }
}

int translate_sign(Formula& formula, int a) {
  const int zero = formula.constant(0.0);
  const int negative =
      formula.select(formula.compare(Kind::less, a, zero), formula.constant(-1.0), zero);
  return formula.select(formula.compare(Kind::greater, a, zero), formula.constant(1.0), negative);
}

/// Switches are written so that NaN reaches the result through the operand that is likely x.
int translate_switch(Formula& formula, Op op, int a, int b, int c) {
  switch (op) {
    case Op::sign:
      return translate_sign(formula, a);
    case Op::min:
      return formula.select(formula.compare(Kind::greater, a, b), b, a);
    case Op::max:
      return formula.select(formula.compare(Kind::less, a, b), b, a);
    case Op::clamp: {
      const int below = formula.compare(Kind::less, a, b);
      const int above = formula.compare(Kind::greater, a, c);
      return formula.select(below, b, formula.select(above, c, a));
    }
    case Op::where:
      return formula.select_nonzero(a, b, c);
    default:
      return formula.select(formula.compare(comparison_of(op), a, b), formula.constant(1.0),
                            formula.constant(0.0));
  }
}

int translate_node(Formula& formula, const solver::Node& node, int a, int b, int c) {
  switch (node.op) {
    case Op::constant:
      return formula.constant(node.value);
    case Op::variable:
      return formula.variable();
    case Op::parameter:
      return formula.parameter(node.parameter);
    case Op::negate:
      return formula.negate(a);
    case Op::add:
      return formula.add(a, b);
    case Op::subtract:
      return formula.subtract(a, b);
    case Op::multiply:
      return formula.multiply(a, b);
    case Op::divide:
      return formula.divide(a, b);
    case Op::power:
      return formula.power(a, b);
    case Op::sqrt:
    case Op::exp:
    case Op::expm1:
    case Op::log:
    case Op::log1p:
    case Op::tanh:
    case Op::sigmoid:
    case Op::softplus:
    case Op::erf:
    case Op::normcdf:
    case Op::sin:
    case Op::cos:
    case Op::atan:
    case Op::abs:
      return translate_call(formula, node.op, a);
    default:
      return translate_switch(formula, node.op, a, b, c);
  }
}

}  // namespace

int translate(const solver::Expression& expression, Formula& formula, bool fold_parameters) {
  std::vector<int> made;
  const auto operand = [&made](int index) { return index < 0 ? -1 : made[size_t(index)]; };
  for (const solver::Node& node : expression.nodes()) {
    if (fold_parameters && node.op == Op::parameter) {
      made.push_back(formula.constant(expression.parameters()[size_t(node.parameter)].second));
      continue;
    }
    made.push_back(
        translate_node(formula, node, operand(node.a), operand(node.b), operand(node.c)));
  }
  return made.back();
}

}  // namespace fewbit::codegen
