// Symbolic differentiation; Formula's own simplification does the rest.
#include "codegen/formula.hpp"

namespace fewbit::codegen {

namespace {

class Differentiator {
 public:
  explicit Differentiator(Formula& formula) : f_(formula) {}

  int of(int index) {
    if (!f_.depends_on_variable(index)) return f_.constant(0.0);
    const auto found = done_.find(index);
    if (found != done_.end()) return found->second;
    const int result = of_term(f_[index], index);
    done_[index] = result;
    return result;
  }

 private:
  int of_term(Term term, int index) {
    switch (term.kind) {
      case Kind::variable:
        return f_.constant(1.0);
      case Kind::negate:
        return f_.negate(of(term.a));
      case Kind::add:
        return f_.add(of(term.a), of(term.b));
      case Kind::subtract:
        return f_.subtract(of(term.a), of(term.b));
      case Kind::multiply:
        if (term.a == term.b) {
          return f_.multiply(f_.constant(2.0), f_.multiply(of(term.a), term.a));
        }
        if (f_.is_call(term.b, Kind::tanh_softplus) && f_[term.b].a == term.a) {
          return f_.multiply(f_.call(Kind::mish_slope, term.a), of(term.a));
        }
        return f_.add(f_.multiply(of(term.a), term.b), f_.multiply(term.a, of(term.b)));
      case Kind::divide:
        return of_quotient(term, index);
      case Kind::power:
        return of_power(term, index);
      case Kind::select:
        return of_select(f_[term.a], term.a, of(term.b), of(term.c));
      case Kind::abs: {
        const int positive = from_left(f_.compare(Kind::greater, term.a, f_.constant(0.0)));
        return f_.select(positive, of(term.a), f_.negate(of(term.a)));
      }
      default:
        return f_.multiply(outer(term, index), of(term.a));
    }
  }

  int of_quotient(const Term& term, int index) {
    const int first = f_.divide(of(term.a), term.b);
    // u / (1 + |u|), the soft sign: the general rule would subtract nearly equal numbers.
    const Term bottom = f_[term.b];
    if (bottom.kind == Kind::add && f_.is_constant(bottom.a, 1.0) &&
        f_.is_call(bottom.b, Kind::abs) && f_[bottom.b].a == term.a) {
      return f_.multiply(f_.call(Kind::softsign_slope, term.a), of(term.a));
    }
    if (!f_.depends_on_variable(term.b)) return first;
    return f_.subtract(first, f_.divide(f_.multiply(index, of(term.b)), term.b));
  }

  int of_power(const Term& term, int index) {
    if (!f_.depends_on_variable(term.b)) {
      const int lower = f_.power(term.a, f_.subtract(term.b, f_.constant(1.0)));
      return f_.multiply(f_.multiply(term.b, lower), of(term.a));
    }
    const int growth = f_.multiply(of(term.b), f_.call(Kind::log, term.a));
    const int base = f_.divide(f_.multiply(term.b, of(term.a)), term.a);
    return f_.multiply(index, f_.add(growth, base));
  }

  /// g'(u) of a function g of one argument u.
  int outer(const Term& term, int index) {
    const int u = term.a;
    switch (term.kind) {
      case Kind::sqrt:
        return f_.divide(f_.constant(0.5), index);
      case Kind::exp:
        return index;
      case Kind::expm1:
        return f_.call(Kind::exp, u);
      case Kind::log:
        return f_.divide(f_.constant(1.0), u);
      case Kind::log1p:
        return f_.divide(f_.constant(1.0), f_.add(f_.constant(1.0), u));
      case Kind::tanh:
        return f_.call(Kind::sech2, u);
      case Kind::tanhshrink:
        return f_.call(Kind::tanh_squared, u);
      case Kind::sigmoid:
        return f_.call(Kind::sigmoid_slope, u);
      case Kind::softplus:
        return f_.call(Kind::sigmoid, u);
      case Kind::tanh_softplus:
        return f_.call(Kind::tanh_softplus_slope, u);
      case Kind::normcdf:
        return f_.call(Kind::normpdf, u);
      case Kind::tanh_squared:
        return f_.multiply(f_.constant(2.0),
                           f_.multiply(f_.call(Kind::tanh, u), f_.call(Kind::sech2, u)));
      case Kind::normpdf:
        return f_.negate(f_.multiply(u, index));
      case Kind::sin:
        return f_.call(Kind::cos, u);
      case Kind::cos:
        return f_.negate(f_.call(Kind::sin, u));
      case Kind::atan:
        return f_.divide(f_.constant(1.0), f_.add(f_.constant(1.0), f_.multiply(u, u)));
      default: {  // erf: 2 / sqrt(pi) e^(-u^2) = 2 sqrt(2) normpdf(sqrt(2) u)
        const int scaled = f_.multiply(f_.constant(1.4142135623730951), u);
        return f_.multiply(f_.constant(2.8284271247461903), f_.call(Kind::normpdf, scaled));
      }
    }
  }

  /// |u| > c turns both ways, so it is taken apart into u > c and u < -c.
  int of_select(const Term& condition, int index, int first, int second) {
    if (first == second) return first;
    const bool magnitude_first = f_.is_call(condition.a, Kind::abs);
    if (!magnitude_first) return f_.select(from_left(index), first, second);
    const int u = f_[condition.a].a;
    const int minus = f_.negate(condition.b);
    const auto outside = [&](Kind above, Kind below, int out, int in) {
      const int left = f_.select(from_left(f_.compare(below, u, minus)), out, in);
      return f_.select(from_left(f_.compare(above, u, condition.b)), out, left);
    };
    switch (condition.kind) {
      case Kind::greater:
        return outside(Kind::greater, Kind::less, first, second);
      case Kind::greater_equal:
        return outside(Kind::greater_equal, Kind::less_equal, first, second);
      case Kind::less:
        return outside(Kind::greater_equal, Kind::less_equal, second, first);
      case Kind::less_equal:
        return outside(Kind::greater, Kind::less, second, first);
      default:
        return f_.select(from_left(index), first, second);
    }
  }

  /// The condition with the outcome at equality that it has just left of the kink.
  int from_left(int condition) {
    const Term term = f_[condition];
    if (term.kind == Kind::constant) return condition;
    const int slope = f_.subtract(of(term.a), of(term.b));
    const bool rising = sign_of(f_, slope) > 0;
    const bool falling = sign_of(f_, slope) < 0;
    switch (term.kind) {
      case Kind::equal:
        return f_.constant(0.0);
      case Kind::not_equal:
        return f_.constant(1.0);
      case Kind::less:
      case Kind::less_equal:
        if (rising) return f_.compare(Kind::less_equal, term.a, term.b);
        return falling ? f_.compare(Kind::less, term.a, term.b) : condition;
      default:
        if (rising) return f_.compare(Kind::greater, term.a, term.b);
        return falling ? f_.compare(Kind::greater_equal, term.a, term.b) : condition;
    }
  }

  Formula& f_;
  std::map<int, int> done_;
};

}  // namespace

int differentiate(Formula& formula, int index) {
  return Differentiator(formula).of(index);
}

}  // namespace fewbit::codegen
