#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <boost/numeric/interval/arith.hpp>
#include <boost/numeric/interval/checking.hpp>
#include <boost/numeric/interval/compare.hpp>
#include <boost/numeric/interval/interval.hpp>
#include <boost/numeric/interval/policies.hpp>
#include <boost/numeric/interval/utility.hpp>

namespace fewbit::solver {

/// std::nextafter(x, INFINITY), a call of which takes longer than all else in a sum of intervals.
inline double step_up(double x) {
  if (!(x < INFINITY)) return x;
  if (x == 0.0) return std::numeric_limits<double>::denorm_min();
  const auto bits = std::bit_cast<std::int64_t>(x);
  return std::bit_cast<double>(x > 0.0 ? bits + 1 : bits - 1);
}
inline double step_down(double x) {
  return -step_up(-x);
}

/// Rounding policy for boost::numeric::interval: every result of the default rounding mode is moved
/// outward by one unit in the last place. Needs no change of the processor's rounding mode.
struct OutwardRounding {
  using unprotected_rounding = OutwardRounding;
  static void init() {}
  template <class T>
  static double conv_down(const T& x) {
    return static_cast<double>(x);
  }
  template <class T>
  static double conv_up(const T& x) {
    return static_cast<double>(x);
  }
  static double add_down(double x, double y) { return step_down(x + y); }
  static double add_up(double x, double y) { return step_up(x + y); }
  static double sub_down(double x, double y) { return step_down(x - y); }
  static double sub_up(double x, double y) { return step_up(x - y); }
  static double mul_down(double x, double y) { return step_down(product(x, y)); }
  static double mul_up(double x, double y) { return step_up(product(x, y)); }
  static double div_down(double x, double y) { return step_down(x / y); }
  static double div_up(double x, double y) { return step_up(x / y); }
  static double median(double x, double y) { return 0.5 * (x + y); }

 private:
  /// An infinite bound is not reached: zero times it is zero.
  static double product(double x, double y) {
    const double result = x * y;
    return std::isnan(result) && !std::isnan(x) && !std::isnan(y) ? 0.0 : result;
  }
};

/// A closed interval of reals; operations enclose the exact result.
using Interval = boost::numeric::interval<
    double, boost::numeric::interval_lib::policies<
                OutwardRounding, boost::numeric::interval_lib::checking_base<double>>>;

inline Interval whole_line() {
  return {-INFINITY, INFINITY};
}
inline bool is_unknown(const Interval& x) {
  return std::isnan(x.lower()) || std::isnan(x.upper());
}
inline bool is_bounded(const Interval& x) {
  return std::isfinite(x.lower()) && std::isfinite(x.upper());
}
/// Largest |x| in the interval.
inline double magnitude(const Interval& x) {
  return std::max(std::abs(x.lower()), std::abs(x.upper()));
}

}  // namespace fewbit::solver
