// With R the remainder of a side of order m = kTaylorOrder and M a bound of its m-th coefficient,
// |R^(i)| <= M m!/(m-i)! |t|^(m-i); so the second derivative of R / t^k is at most
// M (m+k)^2 |t|^(m-k-2), and its value and first derivative less by |t|^2 and |t| at least.

#include "expression/fraction.hpp"

#include <algorithm>
#include <cmath>

#include "expression/taylor_bounds.hpp"

namespace fewbit::solver {

namespace {

constexpr double kRounding = 2.5e-17;
/// Of terms beyond the leading one: no sum cancels, and the denominator has no other zero.
constexpr double kMostBeyond = 0.5;

/// Of a coefficient's terms, all taken as positive: what rounding may do to it.
constexpr double kTermRounding = 2e-15;
/// Of what f' does nearby: rounding of the coefficients that nobody accounts for may be this.
constexpr double kMostNoise = 1e-12;

/// One side of the fraction: its coefficients from order `common` on, the first that is not zero
/// being of order `lead`.
struct Side {
  const Expression& f;
  TaylorCoefficients c;
  TaylorBounds terms;  ///< sums of magnitudes of the terms that make up a coefficient
  int common = 0;
  int lead = 0;

  double size(int order) const { return std::abs(c[static_cast<size_t>(order)]); }
};

/// kTaylorOrder where there is none.
int first_order(const TaylorCoefficients& c) {
  return static_cast<int>(
      std::find_if(c.begin(), c.end() - 1, [](double value) { return value != 0.0; }) - c.begin());
}

bool all_finite(const TaylorCoefficients& c) {
  return std::all_of(c.begin(), c.end(), [](double value) { return std::isfinite(value); });
}

double weight_of(const Side& side, int order) {
  return (order + side.common) * (order + side.common);
}

/// Terms of a coefficient cancel so far that the derivative of the quotient, at distance r, is
/// known to fewer digits than a proof needs.
bool cancels(const Side& side, double r) {
  double known = 0.0;
  double noise = 0.0;
  double power = 1.0;
  for (int j = side.lead + 1; j < kTaylorOrder; ++j, power *= r) {
    known += (j - side.common) * side.size(j) * power;
    noise += (j - side.common) * kTermRounding * side.terms[static_cast<size_t>(j)] * power;
  }
  return noise > kMostNoise * known;
}

/// Some coefficient that vanishes is a difference of others.
bool vanishes_by_cancellation(const Side& side) {
  constexpr double kOutward = 1e-200;  // enclosures of 0 have a width
  return std::any_of(side.terms.begin(), side.terms.begin() + side.lead,
                     [](double term) { return term > kOutward; });
}

/// Beside the leading term at distance r.
bool holds_within(const Side& side, double x, double r) {
  double beyond = 0.0;
  for (int j = kTaylorOrder - 1; j > side.lead; --j) beyond = (beyond + side.size(j)) * r;
  if (!(beyond <= kMostBeyond * side.size(side.lead))) return false;
  const double remainder = taylor_bounds(side.f, x - r, x + r).back();
  return remainder * weight_of(side, kTaylorOrder) * std::pow(r, kTaylorOrder - side.lead) <=
         kRounding * side.size(side.lead);
}

/// Terms that are below rounding at distance r are left out.
std::vector<double> polynomial(const Side& side, double r) {
  int last = kTaylorOrder - 1;
  double dropped = 0.0;
  for (; last > side.lead; --last) {
    dropped += side.size(last) * weight_of(side, last) * std::pow(r, last - side.lead);
    if (!(dropped <= kRounding * side.size(side.lead))) break;
  }
  return {side.c.begin() + side.common, side.c.begin() + last + 1};
}

int add_polynomial(TapeBuilder& tape, int t, const std::vector<double>& c) {
  int sum = tape.constant(c.back());
  for (size_t j = c.size() - 1; j-- > 0;) {
    sum = tape.apply(Op::multiply, sum, t);
    if (c[j] != 0.0) sum = tape.apply(Op::add, sum, tape.constant(c[j]));
  }
  return sum;
}

}  // namespace

std::optional<Fraction> fraction_at(const Expression& numerator, const Expression& denominator,
                                    double x, double largest, bool rounded) {
  constexpr int kSteps = 1000;
  Side above{numerator, taylor_coefficients(numerator, x), taylor_bounds(numerator, x, x)};
  Side below{denominator, taylor_coefficients(denominator, x), taylor_bounds(denominator, x, x)};
  if (!all_finite(above.c) || !all_finite(below.c)) return std::nullopt;
  above.lead = first_order(above.c);
  below.lead = first_order(below.c);
  above.common = below.common = below.lead;
  const bool removable = 0 < below.lead && below.lead <= above.lead && above.lead < kTaylorOrder;
  if (!removable) return std::nullopt;
  if (rounded && vanishes_by_cancellation(above)) return std::nullopt;
  for (int i = 0; i < kSteps; ++i) {
    // Four to each factor of two, numbers of few bits.
    const double r = std::ldexp(0.125 * (8 - i % 4), std::ilogb(largest) + 1 - i / 4);
    if (!(x + r > x && x - r < x)) break;
    if (!holds_within(below, x, r) || !holds_within(above, x, r)) continue;
    if (cancels(above, r) || cancels(below, r)) return std::nullopt;
    return Fraction{x, r, polynomial(above, r), polynomial(below, r)};
  }
  return std::nullopt;
}

int add_fraction(TapeBuilder& tape, const Fraction& fraction) {
  const int x = tape.variable();
  const int t = fraction.x == 0.0 ? x : tape.apply(Op::subtract, x, tape.constant(fraction.x));
  if (fraction.below.size() > 1) {
    const int above = add_polynomial(tape, t, fraction.above);
    return tape.apply(Op::divide, above, add_polynomial(tape, t, fraction.below));
  }
  std::vector<double> quotient = fraction.above;
  for (double& c : quotient) c /= fraction.below.front();
  return add_polynomial(tape, t, quotient);
}

}  // namespace fewbit::solver
