// Sums. A difference from 1 is what loses digits: each such form has an equal one that does not.
#include <numbers>

#include "codegen/formula.hpp"

namespace fewbit::codegen {

int Formula::twice_square(int a) {
  return multiply(constant(2.0), multiply(a, a));
}

/// 1 + a where that has an accurate form, else -1.
int Formula::complement(int a) {
  const Term term = (*this)[a];
  const int argument = term.a;
  switch (term.kind) {
    case Kind::tanh:
      return multiply(constant(2.0), call(Kind::sigmoid, multiply(constant(2.0), argument)));
    case Kind::erf: {
      const int scaled = multiply(constant(std::numbers::sqrt2), argument);
      return multiply(constant(2.0), call(Kind::normcdf, scaled));
    }
    case Kind::expm1:
      return call(Kind::exp, argument);
    case Kind::cos:
      return twice_square(call(Kind::cos, multiply(constant(0.5), argument)));
    default:
      return -1;
  }
}

/// 1 - a where that has an accurate form, else -1.
int Formula::complement_negated(int a) {
  const Term term = (*this)[a];
  switch (term.kind) {
    case Kind::tanh:
    case Kind::erf:
      return complement(call(term.kind, negate(term.a)));
    case Kind::sigmoid:
    case Kind::normcdf:
      return call(term.kind, negate(term.a));
    case Kind::sech2:
      return call(Kind::tanh_squared, term.a);
    case Kind::tanh_squared:
      return call(Kind::sech2, term.a);
    case Kind::cos:
      return twice_square(call(Kind::sin, multiply(constant(0.5), term.a)));
    default:
      return -1;
  }
}

/// Selects under one condition are added branch by branch; -1 where the conditions differ.
int Formula::add_same_condition(int a, int b, Kind kind) {
  const Term left = (*this)[a];
  const Term right = (*this)[b];
  if (left.kind != Kind::select || right.kind != Kind::select || left.a != right.a) return -1;
  const int first = kind == Kind::add ? add(left.b, right.b) : subtract(left.b, right.b);
  const int second = kind == Kind::add ? add(left.c, right.c) : subtract(left.c, right.c);
  return select(left.a, first, second);
}

/// (p + k) + q = k + (p + q) where the products p and q are alike and k is constant, else -1.
int Formula::add_to_constant(int a, int b) {
  const Term sum = (*this)[a];
  if (sum.kind != Kind::add || !(is_constant(sum.a) || is_constant(sum.b))) return -1;
  const int like = add_like_terms(is_constant(sum.a) ? sum.b : sum.a, b, 1.0);
  return like < 0 ? -1 : add(is_constant(sum.a) ? sum.a : sum.b, like);
}

/// x + c x^3 = x (1 + c x^2): fewer roundings. -1 where no power of x alone is common.
int Formula::factor_out(int a, int b, double sign) {
  if (!is_call(a, Kind::variable) || !is_call(b, Kind::multiply)) return -1;
  const int rest = divide(b, a);
  if (is_call(rest, Kind::divide) || !is_call((*this)[rest].a, Kind::constant)) return -1;
  const int factor =
      intern({.kind = sign > 0.0 ? Kind::add : Kind::subtract, .a = constant(1.0), .b = rest});
  return multiply(a, factor);
}

int Formula::add(int a, int b) {
  if (is_constant(a) && is_constant(b)) return constant((*this)[a].value + (*this)[b].value);
  if (is_constant(a, 0.0)) return b;
  if (is_constant(b, 0.0)) return a;
  if ((*this)[b].kind == Kind::negate) return subtract(a, (*this)[b].a);
  if ((*this)[a].kind == Kind::negate) return subtract(b, (*this)[a].a);
  int accurate = -1;
  if (is_constant(a, 1.0)) accurate = complement(b);
  if (is_constant(b, 1.0)) accurate = complement(a);
  if (accurate < 0) accurate = add_like_terms(a, b, 1.0);
  if (accurate < 0) accurate = add_to_constant(a, b);
  if (accurate < 0) accurate = add_to_constant(b, a);
  if (accurate < 0) accurate = add_same_condition(a, b, Kind::add);
  if (accurate < 0) accurate = factor_out(a, b, 1.0);
  return accurate >= 0 ? accurate : intern({.kind = Kind::add, .a = a, .b = b});
}

int Formula::subtract(int a, int b) {
  if (is_constant(a) && is_constant(b)) return constant((*this)[a].value - (*this)[b].value);
  if (is_constant(a, 0.0)) return negate(b);
  if (is_constant(b, 0.0)) return a;
  if (a == b) return constant(0.0);
  if ((*this)[b].kind == Kind::negate) return add(a, (*this)[b].a);
  if (is_constant(b, 1.0) && is_call(a, Kind::exp)) return call(Kind::expm1, (*this)[a].a);
  if (is_call(b, Kind::tanh) && (*this)[b].a == a) return call(Kind::tanhshrink, a);
  int accurate = is_constant(a, 1.0) ? complement_negated(b) : -1;
  if (accurate < 0) accurate = add_like_terms(a, b, -1.0);
  if (accurate < 0) accurate = add_same_condition(a, b, Kind::subtract);
  if (accurate < 0) accurate = factor_out(a, b, -1.0);
  return accurate >= 0 ? accurate : intern({.kind = Kind::subtract, .a = a, .b = b});
}

}  // namespace fewbit::codegen
