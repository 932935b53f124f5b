#include "codegen/comparison.hpp"

#include <cmath>
#include <limits>

namespace fewbit::codegen {

bool is_comparison(Kind kind) {
  return kind >= Kind::less && kind <= Kind::not_equal;
}

const char* comparison_sign(Kind kind) {
  switch (kind) {
    case Kind::less:
      return "<";
    case Kind::less_equal:
      return "<=";
    case Kind::greater:
      return ">";
    case Kind::greater_equal:
      return ">=";
    case Kind::equal:
      return "==";
    default:
      return "!=";
  }
}

bool holds(Kind comparison, double a, double b) {
  switch (comparison) {
    case Kind::less:
      return a < b;
    case Kind::less_equal:
      return a <= b;
    case Kind::greater:
      return a > b;
    case Kind::greater_equal:
      return a >= b;
    case Kind::equal:
      return a == b;
    default:
      return a != b;
  }
}

double float_bound(Kind comparison, double bound) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nearest = static_cast<float>(bound);
  const double rounded = static_cast<double>(nearest);
  const bool up = comparison == Kind::less || comparison == Kind::greater_equal;
  const bool down = comparison == Kind::less_equal || comparison == Kind::greater;
  if (up && rounded < bound) return static_cast<double>(std::nextafter(nearest, infinity));
  if (down && rounded > bound) return static_cast<double>(std::nextafter(nearest, -infinity));
  return rounded;
}

bool bounds_variable(const Formula& formula, const Term& condition) {
  return formula[condition.a].kind == Kind::variable && formula.is_constant(condition.b);
}

}  // namespace fewbit::codegen
