#pragma once

// A second evaluator of the tape for oracles: textbook formulas, no care for cancellation, so use
// it with many digits. Shares nothing with evaluate.hpp.

#include <cmath>
#include <vector>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "expression/expression.hpp"

namespace fewbit::solver {

using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float_50::backend_type,
                                           boost::multiprecision::et_off>;

template <class T>
T reference_function(Op op, const T& u) {
  using std::atan, std::cos, std::erf, std::erfc, std::exp, std::log, std::sin, std::sqrt,
      std::tanh;
  switch (op) {
    case Op::sqrt:
      return sqrt(u);
    case Op::exp:
      return exp(u);
    case Op::expm1:
      return exp(u) - 1;
    case Op::log:
      return log(u);
    case Op::log1p:
      return log(u + 1);
    case Op::tanh:
      return tanh(u);
    case Op::sigmoid:
      return 1 / (1 + exp(-u));
    case Op::softplus:
      return log(1 + exp(u));
    case Op::erf:
      return erf(u);
    case Op::sin:
      return sin(u);
    case Op::cos:
      return cos(u);
    case Op::atan:
      return atan(u);
    default:
      return erfc(T(-u * T(sqrt(Wide(0.5))))) / 2;
  }
}

template <class T>
T reference_switch(const Node& node, const std::vector<T>& v) {
  const T& a = v[static_cast<size_t>(node.a)];
  const T b = node.b < 0 ? T(0) : v[static_cast<size_t>(node.b)];
  const T c = node.c < 0 ? T(0) : v[static_cast<size_t>(node.c)];
  switch (node.op) {
    case Op::less:
      return T(a < b ? 1 : 0);
    case Op::less_equal:
      return T(a <= b ? 1 : 0);
    case Op::greater:
      return T(a > b ? 1 : 0);
    case Op::greater_equal:
      return T(a >= b ? 1 : 0);
    case Op::equal:
      return T(a == b ? 1 : 0);
    case Op::not_equal:
      return T(a == b ? 0 : 1);
    case Op::abs:
      return a < 0 ? T(-a) : a;
    case Op::sign:
      return T(a > 0 ? 1 : a < 0 ? -1 : 0);
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return a < b ? b : a;
    case Op::clamp:
      return a < b ? b : a > c ? c : a;
    default:
      return a == 0 ? c : b;
  }
}

/// Whole powers by multiplication: Boost's differentiation of pow fails at 0.
template <class T>
T reference_power(const T& a, double c) {
  using std::pow;
  if (c != std::floor(c) || std::abs(c) > 64) return T(pow(a, c));
  T product(1);
  for (int i = 0; i < static_cast<int>(std::abs(c)); ++i) product *= a;
  return c < 0 ? T(1 / product) : product;
}

template <class T>
T reference(const Expression& f, const T& x) {
  std::vector<T> v;
  for (const Node& node : f.nodes()) {
    const T a = node.a < 0 ? T(0) : v[static_cast<size_t>(node.a)];
    const T b = node.b < 0 ? T(0) : v[static_cast<size_t>(node.b)];
    const Op op = node.op;
    if (op == Op::constant) {
      v.push_back(T(node.value));
    } else if (op == Op::variable) {
      v.push_back(x);
    } else if (op == Op::parameter) {
      v.push_back(T(f.parameters()[static_cast<size_t>(node.parameter)].second));
    } else if (op == Op::negate) {
      v.push_back(-a);
    } else if (op == Op::add) {
      v.push_back(a + b);
    } else if (op == Op::subtract) {
      v.push_back(a - b);
    } else if (op == Op::multiply) {
      v.push_back(a * b);
    } else if (op == Op::divide) {
      v.push_back(a / b);
    } else if (op == Op::power) {
      v.push_back(reference_power(a, static_cast<double>(b)));
    } else if (op < Op::sqrt) {
      v.push_back(reference_switch(node, v));
    } else {
      v.push_back(reference_function(op, a));
    }
  }
  return v.back();
}

}  // namespace fewbit::solver
