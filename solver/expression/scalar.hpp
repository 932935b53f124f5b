#pragma once

// The functions of the expression language and what their derivatives need, for any scalar: double,
// Interval, and multiprecision numbers (tests). Formulas avoid cancellation in the tails.

#include <algorithm>
#include <cmath>
#include <utility>

#include "expression/interval.hpp"

namespace fewbit::solver::scalar {

inline constexpr double kSqrtHalf = 0.70710678118654752440;
inline constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;
inline constexpr double kTwoOverSqrtPi = 1.1283791670955125739;

// ---- any scalar with the standard functions -------------------------------------------------

template <class T>
T sigmoid(const T& x) {
  using std::exp;
  if (x >= 0) return 1 / (1 + exp(-x));
  const T e = exp(x);
  return e / (1 + e);
}

/// sigmoid'(x) = sigmoid(x) sigmoid(-x), an even function.
template <class T>
T logistic_density(const T& x) {
  using std::exp;
  const T e = x >= 0 ? T(exp(-x)) : T(exp(x));
  return e / ((1 + e) * (1 + e));
}

template <class T>
T softplus(const T& x) {
  using std::exp;
  using std::log1p;
  return x >= 0 ? T(x + log1p(T(exp(-x)))) : T(log1p(T(exp(x))));
}

/// tanh'(x) = 1 / cosh(x)^2, without the cancellation of 1 - tanh(x)^2.
template <class T>
T sech_squared(const T& x) {
  return 4 * logistic_density(T(2 * x));
}

template <class T>
T normcdf(const T& x) {
  using std::erfc;
  using std::sqrt;
  return erfc(T(-x / sqrt(T(2)))) / 2;
}
inline double normcdf(double x) {
  return 0.5 * std::erfc(-x * kSqrtHalf);
}

/// exp(-x^2).
template <class T>
T gauss(const T& x) {
  using std::exp;
  return exp(T(-x * x));
}

/// atan'(x) = 1 / (1 + x^2).
template <class T>
T lorentzian(const T& x) {
  return 1 / (1 + x * x);
}

// ---- intervals ------------------------------------------------------------------------------

/// libm errs by a few units in the last place at most, subnormal results included.
inline double widen_down(double x, double relative = 8e-16) {
  return x - relative * std::abs(x) - 5e-323;
}
inline double widen_up(double x, double relative = 8e-16) {
  return x + relative * std::abs(x) + 5e-323;
}

/// A function at both ends, computed once where they are the same.
template <class F>
std::pair<double, double> at_ends(const Interval& x, const F& f) {
  const double low = f(x.lower());
  return {low, x.lower() == x.upper() ? low : f(x.upper())};
}

/// Image of an ascending function that stays within [least, most]. Where the function is not
/// defined (nan) nothing is known.
template <class F>
Interval lift_ascending(const Interval& x, double least, double most, const F& f) {
  const auto [low, high] = at_ends(x, f);
  const double lo = widen_down(low);
  const double hi = widen_up(high);
  if (std::isnan(lo) || std::isnan(hi)) return whole_line();
  return {std::clamp(lo, least, most), std::clamp(hi, least, most)};
}

/// Image of a non-negative even function that descends with |x|, f(0) at most `most`.
template <class F>
Interval lift_bell(const Interval& x, double most, const F& f) {
  if (is_unknown(x)) return {0.0, most};
  const double near = x.lower() <= 0.0 && x.upper() >= 0.0
                          ? 0.0
                          : std::min(std::abs(x.lower()), std::abs(x.upper()));
  const double lo = std::max(0.0, widen_down(f(magnitude(x))));
  return {std::isnan(lo) ? 0.0 : lo, std::min(most, widen_up(f(near)))};
}

inline Interval exp(const Interval& x) {
  return lift_ascending(x, 0.0, INFINITY, [](double v) { return std::exp(v); });
}
inline Interval expm1(const Interval& x) {
  return lift_ascending(x, -1.0, INFINITY, [](double v) { return std::expm1(v); });
}
/// The part of x on which a function of x - `first` >= 0 is defined: rounding outward must not take
/// a number that touches its border out of it. All of x when it lies outside.
inline Interval clip(const Interval& x, double first) {
  return x.lower() < first && x.upper() >= first ? Interval(first, x.upper()) : x;
}
inline Interval log(const Interval& interval) {
  const Interval x = clip(interval, 0.0);
  return lift_ascending(x, -INFINITY, INFINITY, [](double v) { return std::log(v); });
}
inline Interval log1p(const Interval& interval) {
  const Interval x = clip(interval, -1.0);
  return lift_ascending(x, -INFINITY, INFINITY, [](double v) { return std::log1p(v); });
}
inline Interval sqrt(const Interval& interval) {
  const Interval x = clip(interval, 0.0);
  return lift_ascending(x, 0.0, INFINITY, [](double v) { return std::sqrt(v); });
}
inline Interval tanh(const Interval& x) {
  return lift_ascending(x, -1.0, 1.0, [](double v) { return std::tanh(v); });
}
inline Interval erf(const Interval& x) {
  return lift_ascending(x, -1.0, 1.0, [](double v) { return std::erf(v); });
}
inline Interval sigmoid(const Interval& x) {
  return lift_ascending(x, 0.0, 1.0, [](double v) { return sigmoid(v); });
}
inline Interval softplus(const Interval& x) {
  return lift_ascending(x, 0.0, INFINITY, [](double v) { return softplus(v); });
}
/// erfc errs by five units, and its argument, rounded twice, by as many as x^2 / 2 in the tail.
inline Interval normcdf(const Interval& x) {
  const auto error = [](double v) { return 1.5e-15 + (v < 0.0 ? 3e-16 * v * v : 0.0); };
  const auto down = [&](double v) { return widen_down(normcdf(v), error(v)); };
  const auto up = [&](double v) { return widen_up(normcdf(v), error(v)); };
  if (!is_bounded(x)) return {std::isinf(x.lower()) ? 0.0 : std::max(0.0, down(x.lower())), 1.0};
  return {std::max(0.0, down(x.lower())), std::min(1.0, up(x.upper()))};
}
inline Interval logistic_density(const Interval& x) {
  return lift_bell(x, 0.25, [](double v) { return logistic_density(v); });
}
inline Interval sech_squared(const Interval& x) {
  return lift_bell(x, 1.0, [](double v) { return sech_squared(v); });
}
/// The square is rounded outward first: its rounding alone is many units of the result.
inline Interval gauss(const Interval& x) {
  if (is_unknown(x)) return {0.0, 1.0};
  const double far = magnitude(x);
  const double near = x.lower() <= 0.0 && x.upper() >= 0.0
                          ? 0.0
                          : std::min(std::abs(x.lower()), std::abs(x.upper()));
  return {std::max(0.0, widen_down(std::exp(-step_up(far * far)))),
          std::min(1.0, widen_up(std::exp(-step_down(near * near))))};
}

inline Interval atan(const Interval& x) {
  constexpr double kAboveHalfPi = 0x1.921fb54442d19p+0;
  return lift_ascending(x, -kAboveHalfPi, kAboveHalfPi, [](double v) { return std::atan(v); });
}
inline Interval lorentzian(const Interval& x) {
  return lift_bell(x, 1.0, [](double v) { return lorentzian(v); });
}

/// Image of a wave of period 2 pi between -1 and 1 whose peaks are `peak` turns off zero. Peaks and
/// troughs that may be in x, turns rounded outward, are taken to be: all of them for huge x.
template <class F>
Interval lift_wave(const Interval& x, double peak, const F& f) {
  if (!is_bounded(x)) return {-1.0, 1.0};
  const Interval turns_per_radian(0x1.45f306dc9c882p-3, 0x1.45f306dc9c883p-3);
  const Interval turns = x * turns_per_radian - Interval(peak);
  const auto holds_integer = [](const Interval& t) { return std::ceil(t.lower()) <= t.upper(); };
  const auto [a, b] = at_ends(x, f);
  const bool trough = holds_integer(turns + Interval(0.5));
  return {trough ? -1.0 : std::max(-1.0, widen_down(std::min(a, b))),
          holds_integer(turns) ? 1.0 : std::min(1.0, widen_up(std::max(a, b)))};
}
inline Interval sin(const Interval& x) {
  return lift_wave(x, 0.25, [](double v) { return std::sin(v); });
}
inline Interval cos(const Interval& x) {
  return lift_wave(x, 0.0, [](double v) { return std::cos(v); });
}

/// x^c for a constant c; negative x only for integer c.
inline Interval pow(const Interval& interval, double c) {
  const auto power = [c](double v) { return std::pow(v, c); };
  if (c == 0.0) return Interval(1.0);
  if (is_unknown(interval)) return whole_line();
  const Interval x = c == std::floor(c) ? interval : clip(interval, 0.0);
  if (x.lower() >= 0.0) {
    if (c > 0.0) return lift_ascending(x, 0.0, INFINITY, power);
    const Interval inverse =
        lift_ascending(x, 0.0, INFINITY, [c](double v) { return std::pow(v, -c); });
    return Interval(1.0) / inverse;
  }
  if (c != std::floor(c)) return whole_line();
  if (c < 0.0) return Interval(1.0) / pow(x, -c);
  if (std::fmod(c, 2.0) != 0.0) return lift_ascending(x, -INFINITY, INFINITY, power);
  const double near = x.upper() >= 0.0 ? 0.0 : -x.upper();
  return {std::max(0.0, widen_down(power(near))), widen_up(power(magnitude(x)))};
}

}  // namespace fewbit::solver::scalar
