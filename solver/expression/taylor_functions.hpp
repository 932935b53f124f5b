#pragma once

// The functions of the language for taylor_series.hpp.

#include <cmath>

#include "expression/evaluate.hpp"
#include "expression/taylor_series.hpp"

namespace fewbit::solver::taylor {

/// exp(-factor u^2 / 2) with that `value`.
template <class V>
Orders bell(const Series<V>& u, double factor, const V& value) {
  const Series<V> square = multiply(u, u, V(u.value * u.value));
  return exponential(leading(value), opposite<V>(0.5 * factor), square.m);
}

/// g = sech(u)^2 or the logistic density, both of which follow g' = -2 r y g u' with the odd
/// function y whose derivative is s g u'. Returns g; `y` is completed.
template <class V>
Orders bump(const Orders& u, double first, double r, double s, Orders& y) {
  Orders g{};
  Orders product{};  // y g
  g[0] = first;
  product[0] = y[0] * first;
  for (int k = 1; k <= kTaylorOrder; ++k) {
    const auto at = static_cast<size_t>(k);
    y[at] = s * chain_term(g, u, k);
    g[at] = opposite<V>(2.0 * r * chain_term(product, u, k));
    product[at] = product_term(y, g, k);
  }
  return g;
}

/// The density of the logistic distribution at u.
template <class V>
Orders logistic(const Series<V>& u) {
  using scalar::tanh;
  using std::tanh;
  Orders y{};
  y[0] = leading(tanh(V(V(0.5) * u.value)));
  return bump<V>(u.m, leading(scalar::logistic_density(u.value)), 0.5, 2.0, y);
}

/// The derivative of sin or cos at u, as both follow from each other.
template <class V>
Orders wave(const Series<V>& u, Op op) {
  using scalar::cos, scalar::sin;
  using std::cos, std::sin;
  Orders sine{};
  Orders cosine{};
  sine[0] = leading(sin(u.value));
  cosine[0] = leading(cos(u.value));
  for (int k = 1; k <= kTaylorOrder; ++k) {
    sine[static_cast<size_t>(k)] = chain_term(cosine, u.m, k);
    cosine[static_cast<size_t>(k)] = opposite<V>(chain_term(sine, u.m, k));
  }
  if (op == Op::sin) return cosine;
  for (double& coefficient : sine) coefficient = opposite<V>(coefficient);
  return sine;
}

/// erf and normcdf: `scale` times the integral of the bell.
template <class V>
void chain_bell(Series<V>& result, const Series<V>& u, double factor, const V& bell_value,
                double scale) {
  chain(result, bell(u, factor, bell_value), u.m);
  for (size_t k = 1; k < result.m.size(); ++k) result.m[k] *= scale;
}

/// `result` has its value; its derivative is u' / base.
template <class V>
void chain_inverse(Series<V>& result, const Series<V>& u, const Series<V>& base, const V& inverse) {
  chain(result, divide(with_value(V(1.0)), base, inverse).m, u.m);
}

template <class V>
Series<V> apply(Op op, const Series<V>& u) {
  using scalar::exp, scalar::pow;
  using std::exp, std::pow;
  const V value = unary(op, u.value).value;
  Series<V> result = with_value(value);
  switch (op) {
    case Op::sqrt:
      return real_power(u, 0.5, value);
    case Op::exp:
    case Op::expm1:
      chain(result, exponential(leading(exp(u.value)), 1.0, u.m), u.m);
      return result;
    case Op::log:
      chain_inverse(result, u, u, V(V(1.0) / u.value));
      return result;
    case Op::log1p: {
      const Series<V> base = add(u, with_value(V(1.0)), V(u.value + V(1.0)));
      chain_inverse(result, u, base, V(V(1.0) / base.value));
      return result;
    }
    case Op::tanh:
      bump<V>(u.m, leading(scalar::sech_squared(u.value)), 1.0, 1.0, result.m);
      return result;
    case Op::sigmoid:
      chain(result, logistic(u), u.m);
      return result;
    case Op::softplus: {
      Series<V> slope = with_value(scalar::sigmoid(u.value));
      chain(slope, logistic(u), u.m);
      chain(result, slope.m, u.m);
      return result;
    }
    case Op::erf:
      chain_bell(result, u, 2.0, scalar::gauss(u.value), scalar::kTwoOverSqrtPi);
      return result;
    case Op::sin:
    case Op::cos:
      chain(result, wave(u, op), u.m);
      return result;
    case Op::atan: {
      const V one(1.0);
      const Series<V> square = multiply(u, u, V(pow(u.value, 2.0)));
      const Series<V> base = add(with_value(one), square, V(one + square.value));
      chain_inverse(result, u, base, scalar::lorentzian(u.value));
      return result;
    }
    default:
      chain_bell(result, u, 1.0, scalar::gauss(V(u.value * V(scalar::kSqrtHalf))),
                 scalar::kInverseSqrtTwoPi);
      return result;
  }
}

}  // namespace fewbit::solver::taylor
