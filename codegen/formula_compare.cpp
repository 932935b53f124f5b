// Comparisons. What is linear in x is solved for x in double: x + 3 > 6 in float would be decided
// by the rounding of the sum.
#include <cmath>

#include "codegen/comparison.hpp"
#include "codegen/formula.hpp"

namespace fewbit::codegen {

namespace {

/// The kind that holds for (b, a) where `kind` holds for (a, b).
Kind mirrored(Kind kind) {
  switch (kind) {
    case Kind::less:
      return Kind::greater;
    case Kind::less_equal:
      return Kind::greater_equal;
    case Kind::greater:
      return Kind::less;
    case Kind::greater_equal:
      return Kind::less_equal;
    default:
      return kind;
  }
}

}  // namespace

/// slope * x + offset.
struct Formula::Line {
  double slope = 0.0;
  double offset = 0.0;
};

bool Formula::find_line(int index, Line& line) const {
  const Term& term = (*this)[index];
  Line left;
  Line right;
  switch (term.kind) {
    case Kind::constant:
      line = {0.0, term.value};
      return true;
    case Kind::variable:
      line = {1.0, 0.0};
      return true;
    case Kind::negate:
      if (!find_line(term.a, left)) return false;
      line = {-left.slope, -left.offset};
      return true;
    case Kind::add:
    case Kind::subtract: {
      if (!find_line(term.a, left) || !find_line(term.b, right)) return false;
      const double sign = term.kind == Kind::add ? 1.0 : -1.0;
      line = {left.slope + sign * right.slope, left.offset + sign * right.offset};
      return true;
    }
    case Kind::multiply:
      if (!is_constant(term.a) || !find_line(term.b, right)) return false;
      line = {(*this)[term.a].value * right.slope, (*this)[term.a].value * right.offset};
      return true;
    case Kind::divide:
      if (!is_constant(term.b) || !find_line(term.a, left)) return false;
      line = {left.slope / (*this)[term.b].value, left.offset / (*this)[term.b].value};
      return true;
    default:
      return false;
  }
}

int Formula::compare_variable(Kind kind, double bound) {
  return intern({.kind = kind, .a = variable(), .b = constant(bound)});
}

int Formula::compare(Kind kind, int a, int b) {
  if (is_constant(a) && is_constant(b)) {
    return constant(holds(kind, (*this)[a].value, (*this)[b].value) ? 1.0 : 0.0);
  }
  Line left;
  Line right;
  if (find_line(a, left) && find_line(b, right) && left.slope != right.slope) {
    const double slope = left.slope - right.slope;
    const double bound = (right.offset - left.offset) / slope;
    if (std::isfinite(bound)) return compare_variable(slope > 0.0 ? kind : mirrored(kind), bound);
  }
  return intern({.kind = kind, .a = a, .b = b});
}

}  // namespace fewbit::codegen
