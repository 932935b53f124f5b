// Sums in long double about the mean of f', so that what a part of the values costs is a difference
// of running sums. That is right to 1e-18 of the whole variance, which claims below are taken for.

#include "verify/discrete.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/text.hpp"
#include "expression/derivative.hpp"
#include "expression/evenness.hpp"
#include "expression/left_side.hpp"
#include "table/rounding.hpp"
#include "weights/discrete.hpp"

namespace fewbit::solver {

namespace {

using Sum = long double;

/// One value of the weight.
struct Atom {
  double x;
  double mass;
  double slope;  ///< f'
};

/// Running sums over places that thresholds tell apart.
struct Sums {
  Sum mass = 0.0L;
  Sum first = 0.0L;
  Sum second = 0.0L;
  double at = 0.0;  ///< f' of the place that the sums end with
};

class DiscreteCheck {
 public:
  DiscreteCheck(const Table& table, Findings& findings) : table_(table), findings_(findings) {
    const auto& function = table.problem.function;
    const Expression f = Expression::parse(function.expression, function.parameters);
    const DiscreteWeight weight = discrete_weight(table.problem.weight, table.problem.domain);
    const auto [lo, hi] = weight.domain;
    const auto whole = derivative_with_left_side(f, lo, hi);
    const Derivative& derivative = *whole;
    const double reach = std::max(std::fabs(lo), std::fabs(hi));
    even_ = is_even(f, reach);
    folds_ = even_ && lo < 0.0 && hi > 0.0;
    const double size =
        std::max(std::fabs(derivative.min_value()), std::fabs(derivative.max_value()));
    std::unique_ptr<Derivative> half;
    if (folds_) half = std::make_unique<Derivative>(f, 0.0, reach);
    Sum noise = 0.0L;
    for (const auto& [x, mass] : weight.points) {
      const size_t piece = derivative.piece_of(x);
      double slope = derivative.value(x, piece);
      // Of an even f' both sides have one value, but where it jumps.
      const double mirrored = half ? half->value(std::fabs(x)) : slope;
      if (std::fabs(mirrored - slope) <= kEvenness * size) slope = mirrored;
      const Interval bounds = derivative.bounds(x, x, piece);
      const Sum width = static_cast<Sum>(bounds.upper()) - bounds.lower();
      noise += mass * width * width;
      atoms_.push_back({x, mass, slope});
      mass_ += mass;
      center_ += (slope - center_) * mass / mass_;
    }
    noise_ = static_cast<double>(std::sqrt(noise));
    for (const Atom& atom : atoms_) {
      const Sum off = atom.slope - center_;
      variance_ += atom.mass * off * off;
      least_ = std::min(least_, atom.slope);
      most_ = std::max(most_, atom.slope);
    }
  }

  double run() {
    if (table_.symmetry == Symmetry::even) findings_.add("symmetry", even_, "f' is even");
    thresholds();
    const Sum error = unbiased() ? coding_error() : squared_error();
    compare_error(error);
    residual();
    bound(error);
    return noise_;
  }

 private:
  bool unbiased() const { return table_.problem.form == Form::unbiased; }

  size_t code_of(double x) const {
    return static_cast<size_t>(table_.codes[table_.interval_of(x)]);
  }

  void thresholds() {
    const DataType dtype = table_.problem.dtype;
    for (size_t i = 0; i < table_.thresholds.size(); ++i) {
      const double s = table_.thresholds[i];
      findings_.item("thresholds", i, round_down(s, dtype) == s,
                     shortest(s) + " is not a value of " + to_string(dtype));
    }
    findings_.summarise("thresholds", "values of the data type");
  }

  Sum squared_error() const {
    Sum sum = 0.0L;
    for (const Atom& atom : atoms_) {
      const Sum off = static_cast<Sum>(atom.slope) - table_.levels[code_of(atom.x)];
      sum += atom.mass * off * off;
    }
    return sum;
  }

  Sum coding_error() const {
    const auto& levels = table_.levels;
    Sum sum = 0.0L;
    for (const Atom& atom : atoms_) {
      findings_.item("levels", 0, atom.slope >= levels.front() && atom.slope <= levels.back(),
                     "f'(" + shortest(atom.x) + ") = " + shortest(atom.slope) + " is outside");
      size_t above = 1;
      while (above + 1 < levels.size() && levels[above] < atom.slope) ++above;
      const Sum to_lower = static_cast<Sum>(atom.slope) - levels[above - 1];
      const Sum to_upper = static_cast<Sum>(levels[above]) - atom.slope;
      sum += atom.mass * std::max(0.0L, to_lower * to_upper);
    }
    findings_.summarise("levels", "they cover f' at all values");
    return sum;
  }

  /// What rounding of f' may make of an error, by an estimate that is cruder than the search's.
  double reach_of_noise(Sum error) const {
    constexpr double kCruder = 4.0;
    const double noise = kCruder * noise_;
    const auto root = static_cast<double>(std::sqrt(error));
    if (unbiased()) return noise * static_cast<double>(std::sqrt(mass_)) * (most_ - least_);
    return noise * (2.0 * root + noise);
  }

  void compare_error(Sum error) {
    const auto seen = static_cast<double>(error);
    const double above = seen > 0.0 ? reach_of_noise(error) : 0.0;
    const double nearest = std::clamp(table_.error, seen, seen + above);
    findings_.compare("error", table_.error, nearest, 1e-13 * seen);
  }

  void residual() {
    const double span = most_ - least_;
    const double seen = unbiased() || !(span > 0.0) ? 0.0 : largest_miss() / span;
    const double size = std::max(std::fabs(least_), std::fabs(most_));
    const double rounding = span > 0.0 ? 1e-15 * size / span : 0.0;
    findings_.compare("residual", table_.residual, seen, 1e-12 + 0.01 * seen + rounding);
  }

  double largest_miss() const {
    std::vector<Sum> mass(table_.levels.size(), 0.0L);
    std::vector<Sum> first(table_.levels.size(), 0.0L);
    double largest = 0.0;
    for (const Atom& atom : atoms_) {
      const size_t code = code_of(atom.x);
      mass[code] += atom.mass;
      first[code] += atom.mass * (static_cast<Sum>(atom.slope) - table_.levels[code]);
      if (table_.problem.form != Form::levels) continue;
      double nearest = HUGE_VAL;
      for (const double level : table_.levels) {
        nearest = std::min(nearest, std::fabs(atom.slope - level));
      }
      largest = std::max(largest, std::fabs(atom.slope - table_.levels[code]) - nearest);
    }
    for (size_t j = 0; j < mass.size(); ++j) {
      if (mass[j] > 0.0L) {
        largest = std::max(largest, static_cast<double>(std::fabs(first[j] / mass[j])));
      }
    }
    return largest;
  }

  void bound(Sum error) {
    const double rounding = 1e-16 * static_cast<double>(variance_);
    const double printed = table_.lower_bound;
    if (printed > static_cast<double>(error) * (1.0 + 1e-12) + reach_of_noise(error)) {
      findings_.add("lower_bound", false,
                    fmt::format("printed {}, the table itself has {}", shortest(printed),
                                shortest(static_cast<double>(error))));
      return;
    }
    double least = least_total([](const Atom& atom) { return atom.x; });
    if (table_.problem.form != Form::intervals) {
      least = least_total([](const Atom& atom) { return atom.slope; });
    } else if (folds_) {
      least = std::min(least, least_total([](const Atom& atom) { return std::fabs(atom.x); }));
    }
    const double seen = least + rounding + reach_of_noise(least);
    findings_.add(
        "lower_bound", printed <= seen * (1.0 + 1e-12),
        fmt::format("printed {}, the best table has {}", shortest(printed), shortest(least)));
  }

  /// The least total of any table that cuts the line along which `key` ascends.
  template <class Key>
  double least_total(const Key& key) const {
    std::map<double, Sums> places;
    for (const Atom& atom : atoms_) {
      Sums& place = places[key(atom)];
      const Sum off = atom.slope - center_;
      place.mass += atom.mass;
      place.first += atom.mass * off;
      place.second += atom.mass * off * off;
      place.at = static_cast<double>(atom.slope);
    }
    std::vector<Sums> running(1);
    for (const auto& [place, sums] : places) {
      const Sums& last = running.back();
      running.push_back(
          {last.mass + sums.mass, last.first + sums.first, last.second + sums.second, sums.at});
    }
    // A level stands at the last place of its part; the first level is a part of its own.
    const size_t first = unbiased() ? 1 : 0;
    const int parts = table_.problem.levels - (unbiased() ? 1 : 0);
    return static_cast<double>(least_of(running, first, parts));
  }

  Sum least_of(const std::vector<Sums>& running, size_t first, int parts) const {
    constexpr Sum kInfinity = std::numeric_limits<Sum>::infinity();
    std::vector<Sum> totals(running.size(), kInfinity);
    totals[first] = 0.0L;
    for (int part = 0; part < parts; ++part) {
      // From the right, so that the totals to the left are still those of one part fewer.
      for (size_t end = running.size(); end-- > first + 1;) {
        for (size_t begin = end; begin-- > first;) {
          const Sum cost = cost_of(running[begin], running[end]);
          if (cost >= totals[end]) break;
          totals[end] = std::min(totals[end], totals[begin] + cost);
        }
      }
    }
    return totals.back();
  }

  Sum cost_of(const Sums& before, const Sums& upto) const {
    const Sum mass = upto.mass - before.mass;
    const Sum first = upto.first - before.first;
    const Sum second = upto.second - before.second;
    if (!unbiased()) return std::max(0.0L, second - first * first / mass);
    const Sum lower = before.at - center_;
    const Sum upper = upto.at - center_;
    return std::max(0.0L, (lower + upper) * first - second - lower * upper * mass);
  }

  const Table& table_;
  Findings& findings_;
  std::vector<Atom> atoms_;
  bool even_ = false;
  bool folds_ = false;  ///< thresholds on |x| are tables too
  Sum mass_ = 0.0L;
  Sum center_ = 0.0L;
  Sum variance_ = 0.0L;
  double least_ = HUGE_VAL;
  double most_ = -HUGE_VAL;
  double noise_ = 0.0;
};

}  // namespace

double check_discrete(const Table& table, Findings& findings) {
  return DiscreteCheck(table, findings).run();
}

}  // namespace fewbit::solver
