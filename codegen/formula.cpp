#include "codegen/formula.hpp"

#include <cmath>

namespace fewbit::codegen {

int Formula::intern(Term term) {
  term.varies = term.kind == Kind::variable || depends_on_variable(term.a) ||
                depends_on_variable(term.b) || depends_on_variable(term.c);
  const auto [position, is_new] = known_.try_emplace(term.key(), size());
  if (is_new) terms_.push_back(term);
  return position->second;
}

int Formula::constant(double value) {
  return intern({.kind = Kind::constant, .value = value == 0.0 ? 0.0 : value});
}

int Formula::parameter(int index) {
  return intern({.kind = Kind::parameter, .parameter = index});
}

bool Formula::is_constant(int index, double value) const {
  return is_constant(index) && (*this)[index].value == value;
}

int Formula::select(int condition, int a, int b) {
  if (is_constant(condition)) return is_constant(condition, 0.0) ? b : a;
  if (a == b) return a;
  return intern({.kind = Kind::select, .a = condition, .b = a, .c = b});
}

int Formula::select_nonzero(int number, int a, int b) {
  const Term term = (*this)[number];
  if (term.kind == Kind::constant) return term.value != 0.0 ? a : b;
  if (term.kind == Kind::select) {
    return select(term.a, select_nonzero(term.b, a, b), select_nonzero(term.c, a, b));
  }
  return select(compare(Kind::not_equal, number, constant(0.0)), a, b);
}

int Formula::call(Kind kind, int a) {
  const Term argument = (*this)[a];
  if (argument.kind == Kind::constant) {
    const double value = call_value(kind, argument.value);
    if (std::isfinite(value)) return constant(value);
  }
  if (kind == Kind::log && argument.kind == Kind::add) {
    if (is_constant(argument.a, 1.0)) return call(Kind::log1p, argument.b);
    if (is_constant(argument.b, 1.0)) return call(Kind::log1p, argument.a);
  }
  if (kind == Kind::log1p && argument.kind == Kind::exp) return call(Kind::softplus, argument.a);
  if (kind == Kind::tanh && argument.kind == Kind::softplus) {
    return call(Kind::tanh_softplus, argument.a);
  }
  return intern({.kind = kind, .a = a});
}

}  // namespace fewbit::codegen
