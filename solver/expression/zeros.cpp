// Bisection of interval bounds, as in sign_changes.cpp. Where g is not monotone down to cells in
// which bounds show nothing but rounding, such neighbours are joined: they hold one zero, or none.

#include "expression/zeros.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.hpp"
#include "expression/evaluate.hpp"
#include "expression/sign_changes.hpp"

namespace fewbit::solver {

namespace {

bool excludes_zero(const Interval& value) {
  return value.lower() > 0.0 || value.upper() < 0.0;
}

class ZeroSearch {
 public:
  ZeroSearch(const Expression& g, double lo, double hi, long& work)
      : g_(g), least_(1e-13 * (hi - lo)), work_(work) {
    search(lo, hi);
  }

  std::vector<double> take() {
    for (const Cell& cell : unclear_) {
      if (const auto zero = simplest_zero(cell)) points_.push_back(*zero);
    }
    std::sort(points_.begin(), points_.end());
    std::vector<double> apart;
    for (const double x : points_) {
      if (apart.empty() || !is_same_zero(apart.back(), x)) {
        apart.push_back(x);
      } else if (shortest(x).size() < shortest(apart.back()).size()) {
        apart.back() = x;
      }
    }
    return apart;
  }

 private:
  struct Cell {
    double lo;
    double hi;
  };

  void search(double lo, double hi) {
    work_ -= static_cast<long>(g_.nodes().size());
    if (work_ < 0) return;
    const Jet<Interval> jet = g_.evaluate(Jet<Interval>{{lo, hi}, Interval(1.0), Interval(0.0)});
    if (excludes_zero(jet.value)) return;
    const double middle = 0.5 * (lo + hi);
    const Interval at_middle = g_.evaluate(Interval(middle));
    const Interval swing = jet.first * (Interval(lo, hi) - Interval(middle));
    if (excludes_zero(at_middle + swing) || is_undefined(lo, hi)) return;
    if (is_bounded(jet.first) && excludes_zero(jet.first)) {
      for (const double x : sign_changes(g_, lo, hi, work_).points) {
        if (g_.evaluate(x) == 0.0) points_.push_back(x);
      }
      return;
    }
    const bool rounding =
        is_bounded(at_middle) && magnitude(swing) <= at_middle.upper() - at_middle.lower();
    if (rounding || hi - lo < least_ || middle <= lo || middle >= hi) {
      add({lo, hi});
      return;
    }
    search(lo, middle);
    search(middle, hi);
  }

  /// Rounding may make zeros on the way to one of high order.
  bool is_same_zero(double a, double b) const {
    return a == b || !excludes_zero(g_.evaluate(Interval(0.5 * (a + b))));
  }

  bool is_undefined(double lo, double hi) const {
    for (const double part : {0.0, 0.38196601, 0.61803399, 1.0}) {
      if (!std::isnan(g_.evaluate(lo + part * (hi - lo)))) return false;
    }
    return true;
  }

  void add(const Cell& cell) {
    if (!unclear_.empty() && unclear_.back().hi == cell.lo) {
      unclear_.back().hi = cell.hi;
    } else {
      unclear_.push_back(cell);
    }
  }

  std::optional<double> simplest_zero(const Cell& cell) const {
    for (int digits = 0; digits <= 17; ++digits) {
      double candidate = 0.0;
      if (digits > 0) {
        char buffer[40];
        const auto end = std::to_chars(buffer, buffer + sizeof buffer, 0.5 * (cell.lo + cell.hi),
                                       std::chars_format::scientific, digits - 1)
                             .ptr;
        std::from_chars(buffer, end, candidate);
      }
      const bool inside = candidate >= cell.lo && candidate <= cell.hi;
      if (inside && g_.evaluate(candidate) == 0.0) return candidate;
    }
    return std::nullopt;
  }

  const Expression& g_;
  double least_;
  long& work_;
  std::vector<double> points_;
  std::vector<Cell> unclear_;  ///< ascending, apart
};

}  // namespace

std::vector<double> zeros(const Expression& g, double lo, double hi, long& work) {
  return ZeroSearch(g, lo, hi, work).take();
}

}  // namespace fewbit::solver
