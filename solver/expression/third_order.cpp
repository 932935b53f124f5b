#include "expression/third_order.hpp"

#include <vector>

#include "expression/evaluate.hpp"

namespace fewbit::solver {

namespace {

using A = detail::Arithmetic<Jet<Interval>>;

/// A value and its first three derivatives.
struct Jet3 {
  Jet<Interval> low;
  Interval third;
};

/// `g`: of the same u.
Interval unary_third(Op op, const Unary<Interval>& g, const Interval& u) {
  switch (op) {
    case Op::sqrt:
      return Interval(-1.5) * g.second / u;
    case Op::exp:
    case Op::expm1:
      return g.second;
    case Op::log:
    case Op::log1p:
      return Interval(-2.0) * g.second * g.first;
    case Op::tanh:
      return g.first * (Interval(4.0) - Interval(6.0) * g.first);
    case Op::sigmoid:
      return g.first * (Interval(1.0) - Interval(6.0) * g.first);
    case Op::softplus:
      return unary(Op::sigmoid, u).second;
    case Op::erf:
      return g.first * (Interval(4.0) * scalar::pow(u, 2.0) - Interval(2.0));
    case Op::normcdf:
      return g.first * (scalar::pow(u, 2.0) - Interval(1.0));
    case Op::sin:
    case Op::cos:
      return -g.first;
    default:  // atan: u^2 g' = 1 - g'
      return scalar::pow(g.first, 2.0) * (Interval(6.0) - Interval(8.0) * g.first);
  }
}

/// g(u) by the rule of Faa di Bruno.
Jet3 chain(const Unary<Interval>& g, const Interval& g_third, const Jet3& u) {
  const Interval first = u.low.first;
  return {A::chain(g, u.low), g_third * scalar::pow(first, 3.0) +
                                  Interval(3.0) * (g.second * first * u.low.second) +
                                  g.first * u.third};
}

Jet3 power(const Jet3& a, double c) {
  const auto term = [&](double factor, double exponent) {
    return factor == 0.0 ? Interval(0.0) : Interval(factor) * scalar::pow(a.low.value, exponent);
  };
  const Unary<Interval> g{scalar::pow(a.low.value, c), term(c, c - 1.0),
                          term(c * (c - 1.0), c - 2.0)};
  return chain(g, term(c * (c - 1.0) * (c - 2.0), c - 3.0), a);
}

Jet3 multiply(const Jet3& a, const Jet3& b) {
  return {A::multiply(a.low, b.low),
          a.third * b.low.value +
              Interval(3.0) * (a.low.second * b.low.first + a.low.first * b.low.second) +
              a.low.value * b.third};
}

Jet3 divide(const Jet3& a, const Jet3& b) {
  const Jet<Interval> q = A::divide(a.low, b.low);
  return {q, (a.third - Interval(3.0) * (q.second * b.low.first + q.first * b.low.second) -
              q.value * b.third) /
                 b.low.value};
}

Jet3 step(const Expression& f, const Node& node, const std::vector<Jet3>& v, const Interval& x) {
  const Interval zero(0.0);
  const auto a = [&]() -> const Jet3& { return v[static_cast<size_t>(node.a)]; };
  const auto b = [&]() -> const Jet3& { return v[static_cast<size_t>(node.b)]; };
  switch (node.op) {
    case Op::constant:
      return {A::constant(node.value), zero};
    case Op::parameter:
      return {A::constant(f.parameters()[static_cast<size_t>(node.parameter)].second), zero};
    case Op::variable:
      return {{x, Interval(1.0), zero}, zero};
    case Op::negate:
      return {A::negate(a().low), -a().third};
    case Op::add:
      return {A::add(a().low, b().low), a().third + b().third};
    case Op::subtract:
      return {A::subtract(a().low, b().low), a().third - b().third};
    case Op::multiply:
      return multiply(a(), b());
    case Op::divide:
      return divide(a(), b());
    case Op::power:
      return power(a(), A::decide(b().low));
    default: {
      const Interval& u = a().low.value;
      const Unary<Interval> g = unary(node.op, u);
      return chain(g, unary_third(node.op, g, u), a());
    }
  }
}

}  // namespace

HigherDerivatives higher_derivatives(const Expression& f, const Interval& x) {
  thread_local std::vector<Jet3> v;
  v.clear();
  v.reserve(f.nodes().size());
  for (const Node& node : f.nodes()) v.push_back(step(f, node, v, x));
  return {v.back().low.second, v.back().third};
}

}  // namespace fewbit::solver
