#include "expression/finite.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "expression/block.hpp"
#include "expression/evaluate.hpp"
#include "expression/sign_changes.hpp"
#include "expression/tape.hpp"

namespace fewbit::solver {

namespace {

constexpr int kSamples = 256;

class FiniteCheck {
 public:
  FiniteCheck(const Expression& original, const Piece& piece, long& work)
      : original_(original), f_(piece.smooth), lo_(piece.lo), hi_(piece.hi), work_(work) {}

  void run() {
    check_samples();
    for (const Expression& operand : critical_operands()) check_zeros(operand);
    search(lo_, hi_);
  }

 private:
  struct Point {
    double value;
    double first;
    double second;
    bool finite() const {
      return std::isfinite(value) && std::isfinite(first) && std::isfinite(second);
    }
  };

  Point at(double x) const {
    Point point{};
    evaluate_block(f_, &x, 1, &point.value, &point.first, &point.second);
    return point;
  }

  [[noreturn]] void refuse(double x, const std::string& what) const {
    constexpr size_t kShown = 200;
    std::string text = original_.text();
    if (text.size() > kShown) text = text.substr(0, kShown) + "...";
    throw Error("expression: " + what + " at x = " + shortest(x) + ": " + text);
  }

  [[noreturn]] void refuse(double x, const Point& point) const {
    const bool undone = !std::isfinite(point.value) && stays_finite(x);
    refuse(x, undone ? "a quotient is 0/0, and its terms cancel too far for a proof,"
              : !std::isfinite(point.value) ? "not finite"
              : !std::isfinite(point.first) ? "not differentiable"
                                            : "second derivative not finite");
  }

  /// For the message only: f as written has a value at x, and does not grow towards it.
  bool stays_finite(double x) const {
    constexpr double kGrowth = 10.0;
    const auto size = [&](double share) {
      const double side = x + share * (hi_ - lo_) <= hi_ ? share : -share;
      return std::abs(original_.evaluate(x + side * (hi_ - lo_)));
    };
    return std::isfinite(original_.evaluate(x)) && size(1e-6) < kGrowth * (1e-6 + size(1e-3));
  }

  void check_samples() {
    double good = lo_;
    for (int i = 0; i <= kSamples; ++i) {
      const double x = i == kSamples ? hi_ : lo_ + (hi_ - lo_) * i / kSamples;
      const Point point = at(x);
      if (!point.finite()) {
        const double simple = i == 0 ? x : simplest_bad(good, x);
        refuse(simple, at(simple));
      }
      good = x;
      largest_value_ = std::max(largest_value_, std::abs(point.value));
      largest_second_ = std::max(largest_second_, std::abs(point.second));
    }
  }

  /// Behind `good` all is lost from some x on, up to `bad` at least: a number of few digits there.
  double simplest_bad(double good, double bad) const {
    const double last = bad;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (good + bad);
      (at(middle).finite() ? good : bad) = middle;
    }
    for (int digits = 1; digits <= 17; ++digits) {
      char buffer[40];
      const auto end = std::to_chars(buffer, buffer + sizeof buffer, 0.5 * (bad + last),
                                     std::chars_format::scientific, digits - 1)
                           .ptr;
      double candidate = last;
      std::from_chars(buffer, end, candidate);
      if (candidate >= bad && candidate <= last && !at(candidate).finite()) return candidate;
    }
    return last;
  }

  /// What must not vanish, or not change its sign, within the piece.
  std::vector<Expression> critical_operands() const {
    std::vector<Expression> operands;
    TapeBuilder tape;
    for (const Node& node : f_.nodes()) tape.add(node);
    for (const Node& node : f_.nodes()) {
      int operand = -1;
      if (node.op == Op::divide) operand = node.b;
      if (node.op == Op::log || node.op == Op::sqrt) operand = node.a;
      if (node.op == Op::log1p) operand = tape.apply(Op::add, node.a, tape.constant(1.0));
      if (node.op == Op::power) {
        const double exponent = f_.nodes()[static_cast<size_t>(node.b)].value;
        if (exponent < 0.0 || exponent != std::floor(exponent)) operand = node.a;
      }
      if (operand >= 0 && tape.depends_on_x(operand)) operands.emplace_back(tape.take(operand));
    }
    return operands;
  }

  void check_zeros(const Expression& operand) {
    const std::vector<double> zeros = sign_changes(operand, lo_, hi_, work_).points;
    double before = lo_;
    for (const double zero : zeros) {
      check_closely(zero);
      check(0.5 * (before + zero));
      before = zero;
    }
    check(0.5 * (before + hi_));
  }

  void check(double x) const {
    const Point point = at(x);
    if (!point.finite()) refuse(x, point);
  }

  /// A pole between two doubles is not infinite at either, but out of all proportion.
  void check_closely(double x) const {
    constexpr double kOutOfProportion = 1e8;
    const Point point = at(x);
    if (!point.finite()) refuse(x, point);
    if (std::abs(point.second) <= kOutOfProportion * (1.0 + largest_second_)) return;
    const bool high = std::abs(point.value) > 1e4 * (1.0 + largest_value_);
    refuse(x, high ? "not finite" : "not differentiable");
  }

  /// f' of neighbours differs only by rounding, unless there is a kink that no condition shows.
  void check_bend(double a, double b) const {
    const double left = at(a).first;
    const double right = at(b).first;
    if (std::abs(right - left) <= 1e-4 * (std::abs(left) + std::abs(right))) return;
    refuse(a < 0.0 && b > 0.0 ? 0.0 : b, "not differentiable");
  }

  void search(double a, double b) {
    work_ -= static_cast<long>(f_.nodes().size());
    if (work_ < 0) return;
    const Jet<Interval> jet = f_.evaluate(Jet<Interval>{{a, b}, Interval(1.0), Interval(0.0)});
    if (is_bounded(jet.value) && is_bounded(jet.first) && is_bounded(jet.second)) return;
    const double middle = 0.5 * (a + b);
    const double neighbours = std::max(4e-16 * std::abs(middle), 1e-18 * (hi_ - lo_));
    if (b - a <= neighbours || middle <= a || middle >= b) {
      for (const double x : {a, middle, b}) check_closely(x);
      check_bend(a, b);
      return;
    }
    check(middle);
    search(a, middle);
    search(middle, b);
  }

  const Expression& original_;
  const Expression& f_;
  double lo_;
  double hi_;
  double largest_value_ = 0.0;   ///< |f| of the samples
  double largest_second_ = 0.0;  ///< |f''| of the samples
  long& work_;
};

}  // namespace

void check_finite(const Expression& original, const Piece& piece, long& work) {
  FiniteCheck(original, piece, work).run();
}

}  // namespace fewbit::solver
