#pragma once

// Expression::evaluate for any scalar and for jets over it. The chain rule is written once:
// a unary function contributes g(u), g'(u), g''(u).

#include <type_traits>
#include <vector>

#include "expression/expression.hpp"
#include "expression/jet.hpp"
#include "expression/scalar.hpp"

namespace fewbit::solver {

/// A unary function and its first two derivatives at a point.
template <class T>
struct Unary {
  T value;
  T first;
  T second;
};

/// `op` from sqrt to atan.
template <class T>
Unary<T> unary(Op op, const T& u) {
  using namespace scalar;
  using scalar::atan, scalar::cos, scalar::erf, scalar::exp, scalar::expm1, scalar::log,
      scalar::log1p, scalar::sin, scalar::sqrt, scalar::tanh;
  using std::atan, std::cos, std::erf, std::exp, std::expm1, std::log, std::log1p, std::sin,
      std::sqrt, std::tanh;
  switch (op) {
    case Op::sqrt: {
      const T root = sqrt(u);
      const T first = T(0.5) / root;
      return {root, first, T(-0.5) * first / u};
    }
    case Op::exp: {
      const T e = exp(u);
      return {e, e, e};
    }
    case Op::expm1: {
      const T e = exp(u);
      return {expm1(u), e, e};
    }
    case Op::log: {
      const T inverse = T(1) / u;
      return {log(u), inverse, -inverse * inverse};
    }
    case Op::log1p: {
      const T inverse = T(1) / (T(1) + u);
      return {log1p(u), inverse, -inverse * inverse};
    }
    case Op::tanh: {
      const T value = tanh(u);
      const T first = sech_squared(u);
      return {value, first, T(-2) * value * first};
    }
    case Op::sigmoid: {
      const T first = logistic_density(u);
      return {sigmoid(u), first, -first * tanh(T(u / T(2)))};
    }
    case Op::softplus:
      return {softplus(u), sigmoid(u), logistic_density(u)};
    case Op::erf: {
      const T first = T(kTwoOverSqrtPi) * gauss(u);
      return {erf(u), first, T(-2) * u * first};
    }
    case Op::normcdf: {
      const T first = T(kInverseSqrtTwoPi) * gauss(T(u * T(kSqrtHalf)));
      return {normcdf(u), first, -u * first};
    }
    case Op::sin: {
      const T value = sin(u);
      return {value, cos(u), -value};
    }
    case Op::cos: {
      const T value = cos(u);
      return {value, -sin(u), -value};
    }
    default: {
      const T first = lorentzian(u);
      return {atan(u), first, T(-2) * u * first * first};
    }
  }
}

namespace detail {

template <class T>
struct IsJet : std::false_type {};
template <class T>
struct IsJet<Jet<T>> : std::true_type {};

template <class T>
T power_of(const T& x, double c) {
  using scalar::pow;
  using std::pow;
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Interval>) {
    return c == 2.0 && std::is_same_v<T, double> ? T(x * x) : T(pow(x, c));
  } else {
    return T(pow(x, T(c)));
  }
}

/// Arithmetic of one kind of value; conditions look at `decide`.
template <class T>
struct Arithmetic {
  static T constant(double c) { return T(c); }
  static double decide(const T& x) { return static_cast<double>(x); }
  static T negate(const T& a) { return -a; }
  static T add(const T& a, const T& b) { return a + b; }
  static T subtract(const T& a, const T& b) { return a - b; }
  static T multiply(const T& a, const T& b) { return a * b; }
  static T divide(const T& a, const T& b) { return a / b; }
  static T power(const T& a, double c) { return power_of(a, c); }
  static T apply(Op op, const T& a) { return unary(op, a).value; }
};
template <>
inline double Arithmetic<Interval>::decide(const Interval& x) {
  return 0.5 * (x.lower() + x.upper());
}

template <class T>
struct Arithmetic<Jet<T>> {
  using J = Jet<T>;
  static J constant(double c) { return {T(c), T(0.0), T(0.0)}; }
  static double decide(const J& x) { return Arithmetic<T>::decide(x.value); }
  static J negate(const J& a) { return {-a.value, -a.first, -a.second}; }
  static J add(const J& a, const J& b) {
    return {a.value + b.value, a.first + b.first, a.second + b.second};
  }
  static J subtract(const J& a, const J& b) {
    return {a.value - b.value, a.first - b.first, a.second - b.second};
  }
  static J multiply(const J& a, const J& b) {
    return {a.value * b.value, a.first * b.value + a.value * b.first,
            a.second * b.value + T(2.0) * (a.first * b.first) + a.value * b.second};
  }
  static J divide(const J& a, const J& b) {
    const T value = a.value / b.value;
    const T first = (a.first - value * b.first) / b.value;
    const T second = (a.second - T(2.0) * (first * b.first) - value * b.second) / b.value;
    return {value, first, second};
  }
  static J chain(const Unary<T>& g, const J& u) {
    return {g.value, g.first * u.first, g.second * (u.first * u.first) + g.first * u.second};
  }
  static J power(const J& a, double c) {
    const T value = power_of(a.value, c);
    const T first = c == 0.0 ? T(0.0) : T(T(c) * power_of(a.value, c - 1.0));
    const T second =
        c * (c - 1.0) == 0.0 ? T(0.0) : T(T(c * (c - 1.0)) * power_of(a.value, c - 2.0));
    return chain({value, first, second}, a);
  }
  static J apply(Op op, const J& a) { return chain(unary(op, a.value), a); }
};

}  // namespace detail

namespace detail {

/// 1 or 0 for a comparison, -1 for any other operation.
inline int truth(Op op, double a, double b) {
  switch (op) {
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
    case Op::not_equal:
      return a != b;
    default:
      return -1;
  }
}

/// Nodes that choose between values: abs to where. `at(i)` is the value of node i.
template <class Scalar, class At>
Scalar choose(const Node& n, const At& at) {
  using A = Arithmetic<Scalar>;
  const double a = A::decide(at(n.a));
  switch (n.op) {
    case Op::abs:
      return a < 0.0 ? A::negate(at(n.a)) : at(n.a);
    case Op::sign:
      return A::constant((a > 0.0) - (a < 0.0));
    case Op::min:
      return A::decide(at(n.b)) < a ? at(n.b) : at(n.a);
    case Op::max:
      return A::decide(at(n.b)) > a ? at(n.b) : at(n.a);
    case Op::clamp:
      return a < A::decide(at(n.b)) ? at(n.b) : a > A::decide(at(n.c)) ? at(n.c) : at(n.a);
    default:
      return a != 0.0 ? at(n.b) : at(n.c);
  }
}

/// Nodes of arithmetic and the functions of one value.
template <class Scalar, class At>
Scalar compute(const Node& n, const At& at) {
  using A = Arithmetic<Scalar>;
  switch (n.op) {
    case Op::negate:
      return A::negate(at(n.a));
    case Op::add:
      return A::add(at(n.a), at(n.b));
    case Op::subtract:
      return A::subtract(at(n.a), at(n.b));
    case Op::multiply:
      return A::multiply(at(n.a), at(n.b));
    case Op::divide:
      return A::divide(at(n.a), at(n.b));
    case Op::power:
      return A::power(at(n.a), A::decide(at(n.b)));
    default:
      return A::apply(n.op, at(n.a));
  }
}

}  // namespace detail

template <class Scalar>
Scalar Expression::evaluate(const Scalar& x) const {
  using A = detail::Arithmetic<Scalar>;
  std::vector<Scalar> values;
  values.reserve(nodes_.size());
  const auto at = [&](int i) -> const Scalar& { return values[static_cast<size_t>(i)]; };
  for (const Node& n : nodes_) {
    if (n.op == Op::constant) {
      values.push_back(A::constant(n.value));
    } else if (n.op == Op::variable) {
      values.push_back(x);
    } else if (n.op == Op::parameter) {
      values.push_back(A::constant(parameters_[static_cast<size_t>(n.parameter)].second));
    } else if (n.op >= Op::less && n.op <= Op::not_equal) {
      values.push_back(A::constant(detail::truth(n.op, A::decide(at(n.a)), A::decide(at(n.b)))));
    } else if (n.op >= Op::abs && n.op <= Op::where) {
      values.push_back(detail::choose<Scalar>(n, at));
    } else {
      values.push_back(detail::compute<Scalar>(n, at));
    }
  }
  return values.back();
}

}  // namespace fewbit::solver
