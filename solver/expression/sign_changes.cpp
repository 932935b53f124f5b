// Bisection of interval bounds until g has no zero in a cell or is monotone there, then bisection
// of values. Work is bounded; invariant: cells are visited from left to right.

#include "expression/sign_changes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "expression/evaluate.hpp"

namespace fewbit::solver {

namespace {

class Search {
 public:
  Search(const Expression& g, double lo, double hi, long& work)
      : g_(g), least_(1e-30 * (hi - lo)), least_unit_(std::min(1.0, hi - lo)), work_(work) {
    search(lo, hi);
  }
  SignChanges take() { return std::move(found_); }

 private:
  void search(double lo, double hi) {
    work_ -= static_cast<long>(g_.nodes().size());
    if (work_ < 0) found_.complete = false;
    if (!found_.complete) return;
    const Jet<Interval> jet = g_.evaluate(Jet<Interval>{{lo, hi}, Interval(1.0), Interval(0.0)});
    if (excludes_zero(jet.value)) return visit(lo, jet.value.lower(), jet.value.upper());
    const double middle = 0.5 * (lo + hi);
    const Interval at_middle = g_.evaluate(Interval(middle));
    const Interval swing = jet.first * (Interval(lo, hi) - Interval(middle));
    const Interval mean_form = at_middle + swing;
    if (excludes_zero(mean_form)) return visit(lo, mean_form.lower(), mean_form.upper());
    if (is_undefined(lo, hi)) return;
    // An unbounded slope may be a pole, through which a monotone g changes its sign back.
    const bool monotone = is_bounded(jet.first) && excludes_zero(jet.first);
    const double resolved = at_middle.upper() - at_middle.lower();
    const bool zero = is_bounded(jet.value) && magnitude(jet.value) <= 4.0 * resolved;
    if (zero && !monotone) return add_zero_stretch(lo, hi);
    // Below this splitting shows nothing but rounding.
    const bool rounding = is_bounded(at_middle) && magnitude(swing) <= resolved;
    const bool tiny = hi - lo < least_ || middle <= lo || middle >= hi;
    if (monotone || rounding || tiny) {
      bisect(lo, hi);
      return;
    }
    search(lo, middle);
    search(middle, hi);
  }

  static bool excludes_zero(const Interval& value) {
    return value.lower() > 0.0 || value.upper() < 0.0;
  }

  /// A cell that starts at lo, with two values whose signs are those at its ends; a sign that
  /// differs from the last cell's end is a jump, as at the pole of 1/x.
  void visit(double lo, double first, double last) {
    if ((first < 0.0 && last_ > 0.0) || (first > 0.0 && last_ < 0.0)) add(simplest_near(lo));
    last_ = last;
  }

  /// Not defined on the whole cell; irregular points tell.
  bool is_undefined(double lo, double hi) {
    for (const double part : {0.0, 0.38196601, 0.61803399, 0.85410197, 1.0}) {
      if (!std::isnan(g_.evaluate(lo + part * (hi - lo)))) return false;
    }
    last_ = 0.0;
    return true;
  }

  /// A cell on which bounds show nothing but rounding of 0, as where tanh(x) - 1 has become 0.
  void add_zero_stretch(double lo, double hi) {
    const bool goes_on = zero_until_ == lo && !found_.points.empty() && found_.points.back() == lo;
    if (goes_on) found_.points.pop_back();
    add(goes_on ? hi : lo);
    add(hi);
    zero_until_ = hi;
    last_ = 0.0;
  }

  /// g is monotone, 0 at one end and not at the other: where the zeros end, unless they are nothing
  /// but what rounding makes of a root at that end.
  double end_of_zeros(double zero, double other) const {
    const double start = zero;
    for (;;) {
      const double middle = 0.5 * (zero + other);
      if (middle == zero || middle == other) break;
      (g_.evaluate(middle) == 0.0 ? zero : other) = middle;
    }
    const bool root = std::abs(zero - start) <= 1e-13 * std::max(std::abs(start), least_unit_);
    return root ? start : zero;
  }

  void bisect(double lo, double hi) {
    const double at_lo = g_.evaluate(lo);
    const double at_hi = g_.evaluate(hi);
    visit(lo, at_lo, at_hi);
    if (at_lo == 0.0) {
      add(lo);
      if (at_hi != 0.0) add(end_of_zeros(lo, hi));
    }
    if ((at_lo < 0.0 && at_hi > 0.0) || (at_lo > 0.0 && at_hi < 0.0)) {
      for (;;) {
        const double middle = 0.5 * (lo + hi);
        if (middle <= lo || middle >= hi) break;
        const double value = g_.evaluate(middle);
        if (value == 0.0) {
          hi = middle;
          break;
        }
        ((value > 0.0) == (at_hi > 0.0) ? hi : lo) = middle;
      }
      add(simplest_near(polished(hi)));
    }
    if (at_hi == 0.0) {
      if (at_lo != 0.0) add(end_of_zeros(hi, lo));
      add(hi);
    }
  }

  long double wide(double x) const { return g_.evaluate(static_cast<long double>(x)); }

  /// Several doubles round to g = 0: one Newton step in wider arithmetic finds the nearest.
  double polished(double x) const {
    const long double slope = g_.evaluate(Jet<long double>{x, 1.0L, 0.0L}).first;
    const auto next = static_cast<double>(static_cast<long double>(x) - wide(x) / slope);
    const bool near = std::abs(next - x) <= 2e-15 * std::abs(x) + 1e-15 * least_unit_;
    return near && std::abs(g_.evaluate(next)) <= std::abs(g_.evaluate(x)) ? next : x;
  }

  /// The number of fewest digits beside x at which g is no farther from 0.
  double simplest_near(double x) const {
    const long double reached = std::abs(wide(x));
    const long double at_zero = std::abs(wide(0.0));
    const bool fits = at_zero <= reached || std::isinf(at_zero);  // a zero or a pole
    if (std::abs(x) <= 1e-15 * least_unit_ && fits) return 0.0;
    for (int digits = 1; digits <= 15; ++digits) {
      char buffer[40];
      const auto end = std::to_chars(buffer, buffer + sizeof buffer, x,
                                     std::chars_format::scientific, digits - 1)
                           .ptr;
      double candidate = x;
      std::from_chars(buffer, end, candidate);
      const long double there = std::abs(wide(candidate));
      const bool no_farther = there <= reached || std::isinf(there);
      if (std::abs(candidate - x) <= 8e-16 * std::abs(x) && no_farther) return candidate;
    }
    return x;
  }

  void add(double x) {
    if (found_.points.empty() || x > found_.points.back()) found_.points.push_back(x);
  }

  const Expression& g_;
  double least_;
  double least_unit_;  ///< 1 or the width where that is less
  long& work_;
  double zero_until_ = NAN;  ///< the end of the last stretch of zeros
  double last_ = 0.0;        ///< a value of the last cell's sign at its end
  SignChanges found_;
};

}  // namespace

SignChanges sign_changes(const Expression& g, double lo, double hi, long& work) {
  return Search(g, lo, hi, work).take();
}

}  // namespace fewbit::solver
