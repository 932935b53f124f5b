#include "expression/taylor_bounds.hpp"

#include <cmath>
#include <vector>

#include "expression/taylor_functions.hpp"

namespace fewbit::solver {

namespace {

using namespace taylor;

template <class V>
Series<V> step(const Expression& f, const Node& node, const std::vector<Series<V>>& v, const V& x) {
  const auto a = [&]() -> const Series<V>& { return v[static_cast<size_t>(node.a)]; };
  const auto b = [&]() -> const Series<V>& { return v[static_cast<size_t>(node.b)]; };
  switch (node.op) {
    case Op::constant:
      return with_value(V(node.value));
    case Op::parameter:
      return with_value(V(f.parameters()[static_cast<size_t>(node.parameter)].second));
    case Op::variable: {
      Series<V> variable = with_value(x);
      variable.m[1] = 1.0;
      return variable;
    }
    case Op::negate: {
      Series<V> negated = a();
      negated.value = -negated.value;
      for (double& coefficient : negated.m) coefficient = opposite<V>(coefficient);
      return negated;
    }
    case Op::add:
      return add(a(), b(), V(a().value + b().value));
    case Op::subtract:
      return subtract(a(), b(), V(a().value - b().value));
    case Op::multiply:
      return multiply(a(), b(), V(a().value * b().value));
    case Op::divide:
      return divide(a(), b(), V(a().value / b().value));
    case Op::power:
      return power(a(), detail::Arithmetic<V>::decide(b().value));
    default:
      return apply(node.op, a());
  }
}

/// The coefficients of f, of which no node switches, at or over x.
template <class V>
Orders coefficients(const Expression& f, const V& x) {
  thread_local std::vector<Series<V>> v;
  v.clear();
  v.reserve(f.nodes().size());
  for (const Node& node : f.nodes()) v.push_back(step(f, node, v, x));
  return v.back().m;
}

}  // namespace

TaylorBounds taylor_bounds(const Expression& f, double a, double b) {
  // Sums of up to 17 positive terms in 17 recurrences a node.
  constexpr double kRounding = 1.0 + 1e-10;
  TaylorBounds bounds = coefficients(f, Interval(a, b));
  for (double& bound : bounds) bound = std::isnan(bound) ? INFINITY : bound * kRounding;
  return bounds;
}

TaylorCoefficients taylor_coefficients(const Expression& f, double x) {
  return coefficients(f, x);
}

}  // namespace fewbit::solver
