// Products as one coefficient times factors with integer exponents: what appears above and below
// cancels exactly instead of being rounded twice (alpha * exp(x / alpha) * (1 / alpha)).
#include <algorithm>
#include <cmath>

#include "codegen/formula.hpp"

namespace fewbit::codegen {

struct Formula::Product {
  double coefficient = 1.0;
  std::vector<std::pair<int, int>> factors;  // term, exponent; in order of appearance

  /// No exponent is so large that repeated squaring would be the wrong way to write it.
  bool is_moderate() const {
    return std::isfinite(coefficient) &&
           std::all_of(factors.begin(), factors.end(),
                       [](const auto& factor) { return std::abs(factor.second) <= 4096; });
  }
};

void Formula::collect_factor(Product& product, int index, int exponent) {
  const auto same = [index](const auto& factor) { return factor.first == index; };
  const auto found = std::find_if(product.factors.begin(), product.factors.end(), same);
  if (found == product.factors.end()) {
    product.factors.emplace_back(index, exponent);
  } else {
    found->second += exponent;
  }
}

void Formula::collect(Product& product, int index, int exponent) {
  const Term term = (*this)[index];
  switch (term.kind) {
    case Kind::constant:
      if (term.value == 0.0 && exponent < 0) return collect_factor(product, index, exponent);
      product.coefficient *= std::pow(term.value, exponent);
      return;
    case Kind::negate:
      if (exponent % 2 != 0) product.coefficient = -product.coefficient;
      return collect(product, term.a, exponent);
    case Kind::multiply:
      if (term.a == term.b) return collect(product, term.a, 2 * exponent);
      collect(product, term.a, exponent);
      return collect(product, term.b, exponent);
    case Kind::divide:
      collect(product, term.a, exponent);
      return collect(product, term.b, -exponent);
    case Kind::add:
      // 1 / (1 + e^u) is a sigmoid, which does not overflow.
      if (exponent < 0 && is_constant(term.a, 1.0) && is_call(term.b, Kind::exp)) {
        return collect_factor(product, call(Kind::sigmoid, negate((*this)[term.b].a)), -exponent);
      }
      return collect_factor(product, index, exponent);
    default:
      return collect_factor(product, index, exponent);
  }
}

int Formula::raise(int base, int exponent) {
  if (exponent == 1) return base;
  const int half = raise(base, exponent / 2);
  const int square = intern({.kind = Kind::multiply, .a = half, .b = half});
  return exponent % 2 == 0 ? square : intern({.kind = Kind::multiply, .a = square, .b = base});
}

/// The factors above (sign +1) or below (-1) the line, multiplied from left to right; -1 for none.
int Formula::build_side(const Product& product, int sign) {
  int result = -1;
  for (const auto& [base, exponent] : product.factors) {
    if (exponent * sign <= 0) continue;
    const int factor = raise(base, exponent * sign);
    result = result < 0 ? factor : intern({.kind = Kind::multiply, .a = result, .b = factor});
  }
  return result;
}

/// A select takes the rest of the product into its branches where that costs nothing: a branch or
/// the whole rest is constant. -1 if there is none.
int Formula::build_pushed(Product& product) {
  const bool only_scales = product.coefficient != 1.0 && product.factors.size() == 1;
  for (auto& [base, exponent] : product.factors) {
    const Term term = (*this)[base];
    if (exponent != 1 || term.kind != Kind::select) continue;
    if (!only_scales && !is_constant(term.b) && !is_constant(term.c)) continue;
    exponent = 0;
    const int rest = build(product);
    // One after the other, or the numbers of terms, and names in code, would be the compiler's
    // choice.
    const int first = multiply(rest, term.b);
    return select(term.a, first, multiply(rest, term.c));
  }
  return -1;
}

/// c (k + m y) = ck + cm y with constants c, k, m: a multiplication less; -1 for anything else.
int Formula::distribute(const Product& product) {
  if (product.coefficient == 1.0) return -1;
  for (const auto& [base, exponent] : product.factors) {
    const Term sum = (*this)[base];
    if (exponent != 1 || (sum.kind != Kind::add && sum.kind != Kind::subtract)) continue;
    const Term second = (*this)[sum.b];
    if (!is_constant(sum.a) || second.kind != Kind::multiply || !is_constant(second.a)) continue;
    const int scale = constant(product.coefficient);
    const int scaled =
        intern({.kind = sum.kind, .a = multiply(scale, sum.a), .b = multiply(scale, sum.b)});
    Product rest = product;
    rest.coefficient = 1.0;
    for (auto& factor : rest.factors) {
      if (factor.first == base) factor.first = scaled;
    }
    return build(std::move(rest));
  }
  return -1;
}

/// top * coefficient for a positive coefficient: a division where that is exact (x / 6).
int Formula::scale(int top, double coefficient) {
  if (coefficient == 1.0) return top;
  const double inverse = 1.0 / coefficient;
  int exponent = 0;
  const bool is_power_of_two = std::frexp(coefficient, &exponent) == 0.5;
  if (inverse == std::round(inverse) && inverse < 0x1p24 && !is_power_of_two) {
    return intern({.kind = Kind::divide, .a = top, .b = constant(inverse)});
  }
  return intern({.kind = Kind::multiply, .a = constant(coefficient), .b = top});
}

int Formula::build(Product product) {
  double coefficient = product.coefficient;
  if (coefficient == 0.0) return constant(0.0);
  const int pushed = build_pushed(product);
  if (pushed >= 0) return pushed;
  // A product of constants such as sqrt(2) / 1.4142135623730951 is meant as a whole number.
  const double whole = std::round(coefficient);
  if (std::abs(coefficient - whole) < 1e-15 * std::abs(coefficient)) coefficient = whole;
  product.coefficient = coefficient;
  const int distributed = distribute(product);
  if (distributed >= 0) return distributed;
  const int bottom = build_side(product, -1);
  int top = build_side(product, +1);
  if (top < 0 && bottom < 0) return constant(coefficient);
  top = top < 0 ? constant(std::abs(coefficient)) : scale(top, std::abs(coefficient));
  if (bottom >= 0) top = intern({.kind = Kind::divide, .a = top, .b = bottom});
  return coefficient < 0.0 ? intern({.kind = Kind::negate, .a = top}) : top;
}

/// c1 p + c2 p = (c1 + c2) p; -1 where the products differ. `sign` is that of b.
int Formula::add_like_terms(int a, int b, double sign) {
  if (!depends_on_variable(a) || !depends_on_variable(b)) return -1;
  Product left;
  Product right;
  collect(left, a, 1);
  collect(right, b, 1);
  if (left.factors != right.factors || !left.is_moderate()) return -1;
  left.coefficient += sign * right.coefficient;
  return build(std::move(left));
}

int Formula::multiply(int a, int b) {
  Product product;
  collect(product, a, 1);
  collect(product, b, 1);
  if (product.is_moderate()) return build(std::move(product));
  return intern({.kind = Kind::multiply, .a = a, .b = b});
}

int Formula::divide(int a, int b) {
  Product product;
  collect(product, a, 1);
  collect(product, b, -1);
  if (product.is_moderate()) return build(std::move(product));
  return intern({.kind = Kind::divide, .a = a, .b = b});
}

int Formula::power(int a, int b) {
  if (is_constant(b)) {
    const double exponent = (*this)[b].value;
    if (is_constant(a)) return constant(std::pow((*this)[a].value, exponent));
    if (exponent == 0.0) return constant(1.0);
    if (exponent == 0.5) return call(Kind::sqrt, a);
    if (exponent == std::round(exponent) && std::abs(exponent) <= 64.0) {
      Product product;
      collect(product, a, static_cast<int>(exponent));
      if (product.is_moderate()) return build(std::move(product));
    }
  }
  return intern({.kind = Kind::power, .a = a, .b = b});
}

}  // namespace fewbit::codegen
