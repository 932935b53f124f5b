// Recurrences as in A. Griewank, A. Walther: Evaluating Derivatives, 13.2, for coefficients of
// (t - x)^j; every sum is over magnitudes, so the results bound the coefficients for all x at once.

#include "expression/taylor_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "expression/evaluate.hpp"

namespace fewbit::solver {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Sums of up to 17 positive terms in 17 recurrences a node.
constexpr double kRounding = 1.0 + 1e-10;

using Orders = TaylorBounds;

struct Series {
  Interval value;
  Orders m{};  ///< [0] is the largest |value|
};

double least_magnitude(const Interval& x) {
  if (!(x.lower() > 0.0 || x.upper() < 0.0)) return 0.0;
  return std::min(std::abs(x.lower()), std::abs(x.upper()));
}

Series with_value(const Interval& value) {
  Series s{value, {}};
  s.m[0] = is_unknown(value) ? kInfinity : magnitude(value);
  return s;
}

double product_term(const Orders& a, const Orders& b, int k) {
  double sum = 0.0;
  for (int i = 0; i <= k; ++i) {
    const double left = a[static_cast<size_t>(i)];
    const double right = b[static_cast<size_t>(k - i)];
    if (left != 0.0 && right != 0.0) sum += left * right;
  }
  return sum;
}

/// Coefficient k of g where g' = h u'.
double chain_term(const Orders& h, const Orders& u, int k) {
  double sum = 0.0;
  for (int j = 1; j <= k; ++j) {
    const double left = h[static_cast<size_t>(k - j)];
    const double right = u[static_cast<size_t>(j)];
    if (left != 0.0 && right != 0.0) sum += j * left * right;
  }
  return sum / k;
}

/// `result` has its value; the other coefficients by result' = h u'.
void chain(Series& result, const Orders& h, const Orders& u) {
  for (int k = 1; k <= kTaylorOrder; ++k) result.m[static_cast<size_t>(k)] = chain_term(h, u, k);
}

Series multiply(const Series& a, const Series& b, const Interval& value) {
  Series result = with_value(value);
  for (int k = 1; k <= kTaylorOrder; ++k) {
    result.m[static_cast<size_t>(k)] = product_term(a.m, b.m, k);
  }
  return result;
}

Series add(const Series& a, const Series& b, const Interval& value) {
  Series result = with_value(value);
  for (size_t k = 1; k < result.m.size(); ++k) result.m[k] = a.m[k] + b.m[k];
  return result;
}

/// q b = a, so q_k = (a_k - sum of b_j q_(k-j)) / b_0.
Series divide(const Series& a, const Series& b, const Interval& value) {
  Series q = with_value(value);
  const double least = least_magnitude(b.value);
  for (int k = 1; k <= kTaylorOrder; ++k) {
    double sum = a.m[static_cast<size_t>(k)];
    for (int j = 1; j <= k; ++j) {
      const double left = b.m[static_cast<size_t>(j)];
      if (left != 0.0) sum += left * q.m[static_cast<size_t>(k - j)];
    }
    q.m[static_cast<size_t>(k)] = sum == 0.0 ? 0.0 : sum / least;
  }
  return q;
}

/// g' = factor g v', as of exp and its like: g_k = factor / k * sum of j v_j g_(k-j).
Orders exponential(double first, double factor, const Orders& v) {
  Orders g{};
  g[0] = first;
  for (int k = 1; k <= kTaylorOrder; ++k) {
    g[static_cast<size_t>(k)] = factor * chain_term(g, v, k);
  }
  return g;
}

/// p = u^c, so p' u = c p u'.
Series real_power(const Series& u, double c, const Interval& value) {
  Series p = with_value(value);
  const double least = least_magnitude(u.value);
  for (int k = 1; k <= kTaylorOrder; ++k) {
    double sum = 0.0;
    for (int j = 1; j <= k; ++j) {
      const double left = std::abs(c * j - (k - j)) * u.m[static_cast<size_t>(j)];
      if (left != 0.0) sum += left * p.m[static_cast<size_t>(k - j)];
    }
    p.m[static_cast<size_t>(k)] = sum == 0.0 ? 0.0 : sum / (k * least);
  }
  return p;
}

Series power(const Series& u, double c) {
  constexpr double kMostFactors = 64.0;
  const Interval value = scalar::pow(u.value, c);
  if (!(c >= 0.0 && c <= kMostFactors && c == std::floor(c))) return real_power(u, c, value);
  // A whole power is a product, at zeros of u too.
  Series result = with_value(Interval(1.0));
  for (int i = 0; i < static_cast<int>(c); ++i)
    result = multiply(result, u, result.value * u.value);
  result.value = value;
  result.m[0] = with_value(value).m[0];
  return result;
}

/// exp(-factor u^2 / 2) where `value` encloses it.
Orders bell(const Series& u, double factor, const Interval& value) {
  const Series square = multiply(u, u, u.value * u.value);
  return exponential(magnitude(value), 0.5 * factor, square.m);
}

/// g = sech(u)^2 or the logistic density, both of which follow g' = -2 r y g u' with the odd
/// function y whose derivative is s g u'. Returns g; `y` is completed.
Orders bump(const Orders& u, double first, double r, double s, Orders& y) {
  Orders g{};
  Orders product{};  // y g
  g[0] = first;
  product[0] = y[0] * first;
  for (int k = 1; k <= kTaylorOrder; ++k) {
    const auto at = static_cast<size_t>(k);
    y[at] = s * chain_term(g, u, k);
    g[at] = 2.0 * r * chain_term(product, u, k);
    product[at] = product_term(y, g, k);
  }
  return g;
}

/// The density of the logistic distribution at u.
Orders logistic(const Series& u) {
  Orders y{};
  y[0] = magnitude(scalar::tanh(Interval(0.5) * u.value));
  return bump(u.m, scalar::logistic_density(u.value).upper(), 0.5, 2.0, y);
}

/// The derivative of sin or cos at u, as both follow from each other.
Orders wave(const Series& u, Op op) {
  Orders sine{};
  Orders cosine{};
  sine[0] = magnitude(scalar::sin(u.value));
  cosine[0] = magnitude(scalar::cos(u.value));
  for (int k = 1; k <= kTaylorOrder; ++k) {
    sine[static_cast<size_t>(k)] = chain_term(cosine, u.m, k);
    cosine[static_cast<size_t>(k)] = chain_term(sine, u.m, k);
  }
  return op == Op::sin ? cosine : sine;
}

Series apply(Op op, const Series& u) {
  const Interval value = unary(op, u.value).value;
  Series result = with_value(value);
  switch (op) {
    case Op::sqrt:
      return real_power(u, 0.5, value);
    case Op::exp:
    case Op::expm1:
      chain(result, exponential(scalar::exp(u.value).upper(), 1.0, u.m), u.m);
      return result;
    case Op::log:
    case Op::log1p: {
      const Series one = with_value(Interval(1.0));
      const Series base = op == Op::log ? u : add(u, one, u.value + Interval(1.0));
      chain(result, divide(one, base, Interval(1.0) / base.value).m, u.m);
      return result;
    }
    case Op::tanh: {
      Orders& y = result.m;
      bump(u.m, scalar::sech_squared(u.value).upper(), 1.0, 1.0, y);
      return result;
    }
    case Op::sigmoid:
      chain(result, logistic(u), u.m);
      return result;
    case Op::softplus: {
      Series slope = with_value(scalar::sigmoid(u.value));
      chain(slope, logistic(u), u.m);
      chain(result, slope.m, u.m);
      return result;
    }
    case Op::erf:
      chain(result, bell(u, 2.0, scalar::gauss(u.value)), u.m);
      for (size_t k = 1; k < result.m.size(); ++k) result.m[k] *= scalar::kTwoOverSqrtPi;
      return result;
    case Op::sin:
    case Op::cos:
      chain(result, wave(u, op), u.m);
      return result;
    case Op::atan: {
      const Series one = with_value(Interval(1.0));
      const Series square = multiply(u, u, scalar::pow(u.value, 2.0));
      const Series base = add(one, square, one.value + square.value);
      chain(result, divide(one, base, scalar::lorentzian(u.value)).m, u.m);
      return result;
    }
    default:
      chain(result, bell(u, 1.0, scalar::gauss(u.value * Interval(scalar::kSqrtHalf))), u.m);
      for (size_t k = 1; k < result.m.size(); ++k) result.m[k] *= scalar::kInverseSqrtTwoPi;
      return result;
  }
}

Series step(const Expression& f, const Node& node, const std::vector<Series>& v,
            const Interval& x) {
  const auto a = [&]() -> const Series& { return v[static_cast<size_t>(node.a)]; };
  const auto b = [&]() -> const Series& { return v[static_cast<size_t>(node.b)]; };
  switch (node.op) {
    case Op::constant:
      return with_value(Interval(node.value));
    case Op::parameter:
      return with_value(Interval(f.parameters()[static_cast<size_t>(node.parameter)].second));
    case Op::variable: {
      Series variable = with_value(x);
      variable.m[1] = 1.0;
      return variable;
    }
    case Op::negate: {
      Series negated = a();
      negated.value = -negated.value;
      return negated;
    }
    case Op::add:
      return add(a(), b(), a().value + b().value);
    case Op::subtract:
      return add(a(), b(), a().value - b().value);
    case Op::multiply:
      return multiply(a(), b(), a().value * b().value);
    case Op::divide:
      return divide(a(), b(), a().value / b().value);
    case Op::power:
      return power(a(), b().value.lower());
    default:
      return apply(node.op, a());
  }
}

}  // namespace

TaylorBounds taylor_bounds(const Expression& f, double a, double b) {
  thread_local std::vector<Series> v;
  v.clear();
  v.reserve(f.nodes().size());
  for (const Node& node : f.nodes()) v.push_back(step(f, node, v, {a, b}));
  TaylorBounds bounds = v.back().m;
  for (double& bound : bounds) bound = std::isnan(bound) ? kInfinity : bound * kRounding;
  return bounds;
}

}  // namespace fewbit::solver
