#pragma once

// Recurrences as in A. Griewank, A. Walther: Evaluating Derivatives, 13.2, for coefficients of
// (t - x)^j. With V = double they are those of f at x. With V = Interval every sum is over
// magnitudes, so that the results bound the coefficients for all x of an interval at once.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "expression/interval.hpp"
#include "expression/scalar.hpp"
#include "expression/taylor_bounds.hpp"

namespace fewbit::solver::taylor {

using Orders = TaylorBounds;

template <class V>
struct Series {
  V value;
  Orders m{};  ///< [0] is the value, or the largest |value|
};

template <class V>
inline constexpr bool kBounds = std::is_same_v<V, Interval>;

/// What a minus sign makes of a coefficient.
template <class V>
double opposite(double coefficient) {
  return kBounds<V> ? coefficient : -coefficient;
}

/// What a coefficient is of a value, and what to divide by for it.
inline double leading(const Interval& x) {
  return is_unknown(x) ? std::numeric_limits<double>::infinity() : magnitude(x);
}
inline double leading(double x) {
  return x;
}
inline double divisor(const Interval& x) {
  if (!(x.lower() > 0.0 || x.upper() < 0.0)) return 0.0;
  return std::min(std::abs(x.lower()), std::abs(x.upper()));
}
inline double divisor(double x) {
  return x;
}

template <class V>
Series<V> with_value(const V& value) {
  Series<V> s{value, {}};
  s.m[0] = leading(value);
  return s;
}

inline double product_term(const Orders& a, const Orders& b, int k) {
  double sum = 0.0;
  for (int i = 0; i <= k; ++i) {
    const double left = a[static_cast<size_t>(i)];
    const double right = b[static_cast<size_t>(k - i)];
    if (left != 0.0 && right != 0.0) sum += left * right;
  }
  return sum;
}

/// Coefficient k of g where g' = h u'.
inline double chain_term(const Orders& h, const Orders& u, int k) {
  double sum = 0.0;
  for (int j = 1; j <= k; ++j) {
    const double left = h[static_cast<size_t>(k - j)];
    const double right = u[static_cast<size_t>(j)];
    if (left != 0.0 && right != 0.0) sum += j * left * right;
  }
  return sum / k;
}

/// `result` has its value; the other coefficients by result' = h u'.
template <class V>
void chain(Series<V>& result, const Orders& h, const Orders& u) {
  for (int k = 1; k <= kTaylorOrder; ++k) result.m[static_cast<size_t>(k)] = chain_term(h, u, k);
}

template <class V>
Series<V> multiply(const Series<V>& a, const Series<V>& b, const V& value) {
  Series<V> result = with_value(value);
  for (int k = 1; k <= kTaylorOrder; ++k) {
    result.m[static_cast<size_t>(k)] = product_term(a.m, b.m, k);
  }
  return result;
}

template <class V>
Series<V> add(const Series<V>& a, const Series<V>& b, const V& value) {
  Series<V> result = with_value(value);
  for (size_t k = 1; k < result.m.size(); ++k) result.m[k] = a.m[k] + b.m[k];
  return result;
}

template <class V>
Series<V> subtract(const Series<V>& a, const Series<V>& b, const V& value) {
  Series<V> result = with_value(value);
  for (size_t k = 1; k < result.m.size(); ++k) result.m[k] = a.m[k] + opposite<V>(b.m[k]);
  return result;
}

/// q b = a, so q_k = (a_k - sum of b_j q_(k-j)) / b_0.
template <class V>
Series<V> divide(const Series<V>& a, const Series<V>& b, const V& value) {
  Series<V> q = with_value(value);
  const double least = divisor(b.value);
  for (int k = 1; k <= kTaylorOrder; ++k) {
    double sum = a.m[static_cast<size_t>(k)];
    for (int j = 1; j <= k; ++j) {
      const double left = b.m[static_cast<size_t>(j)];
      if (left != 0.0) sum += opposite<V>(left * q.m[static_cast<size_t>(k - j)]);
    }
    q.m[static_cast<size_t>(k)] = sum == 0.0 ? 0.0 : sum / least;
  }
  return q;
}

/// g' = factor g v', as of exp and its like: g_k = factor / k * sum of j v_j g_(k-j).
inline Orders exponential(double first, double factor, const Orders& v) {
  Orders g{};
  g[0] = first;
  for (int k = 1; k <= kTaylorOrder; ++k) {
    g[static_cast<size_t>(k)] = factor * chain_term(g, v, k);
  }
  return g;
}

/// p = u^c, so p' u = c p u'.
template <class V>
Series<V> real_power(const Series<V>& u, double c, const V& value) {
  Series<V> p = with_value(value);
  const double least = divisor(u.value);
  for (int k = 1; k <= kTaylorOrder; ++k) {
    double sum = 0.0;
    for (int j = 1; j <= k; ++j) {
      const double factor = c * j - (k - j);
      const double left = (kBounds<V> ? std::abs(factor) : factor) * u.m[static_cast<size_t>(j)];
      if (left != 0.0) sum += left * p.m[static_cast<size_t>(k - j)];
    }
    p.m[static_cast<size_t>(k)] = sum == 0.0 ? 0.0 : sum / (k * least);
  }
  return p;
}

template <class V>
Series<V> power(const Series<V>& u, double c) {
  using scalar::pow;
  using std::pow;
  constexpr double kMostFactors = 64.0;
  const V value = pow(u.value, c);
  if (!(c >= 0.0 && c <= kMostFactors && c == std::floor(c))) return real_power(u, c, value);
  // A whole power is a product, at zeros of u too.
  Series<V> result = with_value(V(1.0));
  for (int i = 0; i < static_cast<int>(c); ++i) {
    result = multiply(result, u, V(result.value * u.value));
  }
  result.value = value;
  result.m[0] = leading(value);
  return result;
}

}  // namespace fewbit::solver::taylor
