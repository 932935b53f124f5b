#pragma once

#include <rapidcheck.h>

#include "expression/tape.hpp"

namespace fewbit::solver {

/// Random tapes for properties: `smooth` has no switching node and is finite near the origin.
class RandomExpression {
 public:
  explicit RandomExpression(bool smooth) : smooth_(smooth) {}

  Expression make() {
    int root = tape_.variable();
    const int steps = *rc::gen::inRange(1, 9);
    for (int i = 0; i < steps; ++i) root = grow(root);
    return Expression(tape_.take(root), {{"alpha", 0.75}});
  }

 private:
  int leaf() {
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        return tape_.variable();
      case 1:
        return tape_.parameter(0);
      default:
        return tape_.constant(*rc::gen::inRange(0, 4000) / 1000.0);
    }
  }

  int grow(int a) {
    const int b = *rc::gen::inRange(0, 3) == 0 ? grow_once(leaf()) : leaf();
    const bool swap = *rc::gen::arbitrary<bool>();
    const int left = swap ? b : a;
    const int right = swap ? a : b;
    switch (*rc::gen::inRange(0, smooth_ ? 4 : 7)) {
      case 0:
        return tape_.apply(Op::add, left, right);
      case 1:
        return tape_.apply(Op::subtract, left, right);
      case 2:
        return tape_.apply(Op::multiply, left, right);
      case 3:
        return grow_once(a);
      case 4:
        return tape_.apply(*rc::gen::element(Op::min, Op::max), left, right);
      case 5:
        return tape_.apply(Op::where, comparison(left, right), a, b);
      default:
        return tape_.apply(*rc::gen::element(Op::abs, Op::sign), a);
    }
  }

  int comparison(int a, int b) {
    return tape_.apply(*rc::gen::element(Op::less, Op::less_equal, Op::greater, Op::greater_equal,
                                         Op::equal, Op::not_equal),
                       a, b);
  }

  /// One operation of one operand; what needs a positive one gets softplus or 1 + u^2.
  int grow_once(int a) {
    const Op op = *rc::gen::element(Op::negate, Op::power, Op::divide, Op::sqrt, Op::log, Op::log1p,
                                    Op::exp, Op::expm1, Op::tanh, Op::sigmoid, Op::softplus,
                                    Op::erf, Op::normcdf, Op::sin, Op::cos, Op::atan);
    if (op == Op::power) return tape_.apply(op, a, tape_.constant(*rc::gen::inRange(0, 4)));
    if (op == Op::exp || op == Op::expm1) return tape_.apply(op, tape_.apply(Op::tanh, a));
    const bool positive = op == Op::divide || op == Op::sqrt || op == Op::log || op == Op::log1p;
    if (!positive) return tape_.apply(op, a);
    const int square = tape_.apply(Op::power, a, tape_.constant(2.0));
    const int above = tape_.apply(Op::add, tape_.constant(1.0), square);
    return op == Op::divide ? tape_.apply(op, tape_.variable(), above) : tape_.apply(op, above);
  }

  bool smooth_;
  TapeBuilder tape_;
};

}  // namespace fewbit::solver
