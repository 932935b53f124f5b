#include "expression/pieces.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "expression/evaluate.hpp"
#include "expression/tape.hpp"

namespace fewbit::solver {

namespace {

/// Bisection of interval evaluations, bounded in work.
class SignChanges {
 public:
  SignChanges(const Expression& g, double lo, double hi) : g_(g), least_(1e-13 * (hi - lo)) {
    search(lo, hi);
  }
  std::vector<double> take() { return std::move(found_); }

 private:
  static constexpr int kMaxEvaluations = 20000;

  void search(double lo, double hi) {
    if (++evaluations_ > kMaxEvaluations) return;
    const Jet<Interval> jet = g_.evaluate(Jet<Interval>{{lo, hi}, Interval(1.0), Interval(0.0)});
    if (jet.value.lower() > 0.0 || jet.value.upper() < 0.0) return;
    const bool monotone = jet.first.lower() > 0.0 || jet.first.upper() < 0.0;
    const double middle = 0.5 * (lo + hi);
    if (monotone || hi - lo < least_ || middle <= lo || middle >= hi) {
      bisect(lo, hi);
      return;
    }
    search(lo, middle);
    search(middle, hi);
  }

  void bisect(double lo, double hi) {
    const double at_lo = g_.evaluate(lo);
    const double at_hi = g_.evaluate(hi);
    if (at_lo == 0.0) add(lo);
    if (at_hi == 0.0) add(hi);
    if (!(at_lo * at_hi < 0.0)) return;
    for (;;) {
      const double middle = 0.5 * (lo + hi);
      if (middle <= lo || middle >= hi) break;
      const double value = g_.evaluate(middle);
      if (value == 0.0) {
        lo = hi = middle;
        break;
      }
      ((value > 0.0) == (at_hi > 0.0) ? hi : lo) = middle;
    }
    add(simplest_near(hi));
  }

  /// The number of fewest digits beside x at which g is no farther from 0.
  double simplest_near(double x) const {
    const double reached = std::abs(g_.evaluate(x));
    for (int digits = 1; digits <= 16; ++digits) {
      char buffer[40];
      const auto end = std::to_chars(buffer, buffer + sizeof buffer, x,
                                     std::chars_format::scientific, digits - 1)
                           .ptr;
      double candidate = x;
      std::from_chars(buffer, end, candidate);
      if (std::abs(candidate - x) <= 8e-16 * std::abs(x) + 1e-300 &&
          std::abs(g_.evaluate(candidate)) <= reached) {
        return candidate;
      }
    }
    return x;
  }

  void add(double x) {
    if (found_.empty() || x > found_.back()) found_.push_back(x);
  }

  const Expression& g_;
  double least_;
  int evaluations_ = 0;
  std::vector<double> found_;
};

double decided_value(const Node& node, double a, double b) {
  switch (node.op) {
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greater_equal:
      return a >= b;
    case Op::equal:
      return a == b;
    default:
      return a != b;
  }
}

bool is_comparison(Op op) {
  return op >= Op::less && op <= Op::not_equal;
}

/// The value of a node whose operands are all constants of `tape`.
double folded_value(const Node& node, const TapeBuilder& tape) {
  std::vector<Node> small;
  Node alone = node;
  for (int* operand : {&alone.a, &alone.b, &alone.c}) {
    if (*operand < 0) continue;
    small.push_back(tape[*operand]);
    *operand = static_cast<int>(small.size()) - 1;
  }
  small.push_back(alone);
  return Expression(small).evaluate(0.0);
}

/// Folds constants (parameters become numbers) and drops what nothing needs.
Expression simplify(const Expression& f) {
  TapeBuilder tape;
  std::vector<int> place;
  for (const Node& node : f.nodes()) {
    if (node.op == Op::parameter) {
      place.push_back(tape.constant(f.parameters()[static_cast<size_t>(node.parameter)].second));
      continue;
    }
    Node copy = node;
    bool constant = node.a >= 0;
    for (int* operand : {&copy.a, &copy.b, &copy.c}) {
      if (*operand < 0) continue;
      *operand = place[static_cast<size_t>(*operand)];
      constant = constant && tape[*operand].op == Op::constant;
    }
    const double value = constant ? folded_value(copy, tape) : NAN;
    if (std::isfinite(value)) {
      place.push_back(tape.constant(value));
    } else if (copy.op == Op::where && tape[copy.a].op == Op::constant) {
      place.push_back(tape[copy.a].value != 0.0 ? copy.b : copy.c);
    } else {
      place.push_back(tape.add(copy));
    }
  }
  return Expression(tape.take(place.back()));
}

/// The expression whose sign decides switching node `index`: its zeros are the kinks.
/// `part` tells the two borders of a clamp apart.
Expression condition_of(const Expression& f, size_t index, int part) {
  std::vector<Node> nodes(f.nodes().begin(),
                          f.nodes().begin() + static_cast<std::ptrdiff_t>(index));
  const Node& node = f.nodes()[index];
  TapeBuilder tape;
  for (const Node& n : nodes) tape.add(n);
  if (node.op == Op::abs || node.op == Op::sign || node.op == Op::where) {
    return Expression(tape.take(node.a));
  }
  return Expression(tape.take(tape.apply(Op::subtract, node.a, part == 0 ? node.b : node.c)));
}

/// Puts the branch that is taken at x in the place of switching node `index`.
Expression decide(const Expression& f, size_t index, double x) {
  const Node& node = f.nodes()[index];
  std::vector<Node> nodes = f.nodes();
  const auto value = [&](int operand) {
    TapeBuilder tape;
    for (size_t i = 0; i <= static_cast<size_t>(operand); ++i) tape.add(f.nodes()[i]);
    return Expression(tape.take(operand)).evaluate(x);
  };
  TapeBuilder tape;
  std::vector<int> place;
  for (size_t i = 0; i < nodes.size(); ++i) {
    Node copy = nodes[i];
    for (int* operand : {&copy.a, &copy.b, &copy.c}) {
      if (*operand >= 0) *operand = place[static_cast<size_t>(*operand)];
    }
    if (i != index) {
      place.push_back(tape.add(copy));
      continue;
    }
    const double a = value(node.a);
    if (is_comparison(node.op)) {
      place.push_back(tape.constant(decided_value(node, a, value(node.b))));
    } else if (node.op == Op::abs) {
      place.push_back(a < 0.0 ? tape.apply(Op::negate, copy.a) : copy.a);
    } else if (node.op == Op::sign) {
      place.push_back(tape.constant((a > 0.0) - (a < 0.0)));
    } else if (node.op == Op::where) {
      place.push_back(a != 0.0 ? copy.b : copy.c);
    } else if (node.op == Op::min) {
      place.push_back(value(node.b) < a ? copy.b : copy.a);
    } else if (node.op == Op::max) {
      place.push_back(value(node.b) > a ? copy.b : copy.a);
    } else {
      place.push_back(a < value(node.b) ? copy.b : a > value(node.c) ? copy.c : copy.a);
    }
  }
  return simplify(Expression(tape.take(place.back())));
}

/// The next node to decide: its operands hold no switching node; conditions before branches, so
/// that a branch that is never taken is gone before it is looked at. -1: none.
int next_switch(const Expression& f) {
  const std::vector<Node>& nodes = f.nodes();
  std::vector<bool> holds(nodes.size());
  int candidate = -1;
  for (size_t i = 0; i < nodes.size(); ++i) {
    bool below = false;
    for (const int operand : {nodes[i].a, nodes[i].b, nodes[i].c}) {
      below = below || (operand >= 0 && holds[static_cast<size_t>(operand)]);
    }
    holds[i] = below || is_switching(nodes[i].op);
    if (!is_switching(nodes[i].op)) continue;
    const bool ready =
        !below || (nodes[i].op == Op::where && !holds[static_cast<size_t>(nodes[i].a)]);
    if (!ready) continue;
    if (is_comparison(nodes[i].op) || nodes[i].op == Op::where) return static_cast<int>(i);
    if (candidate < 0) candidate = static_cast<int>(i);
  }
  return candidate;
}

void split(const Expression& f, double lo, double hi, std::vector<Piece>& pieces) {
  const int next = next_switch(f);
  if (next < 0) {
    pieces.push_back({lo, hi, f});
    return;
  }
  const auto index = static_cast<size_t>(next);
  std::vector<double> borders{lo};
  const int parts = f.nodes()[index].op == Op::clamp ? 2 : 1;
  for (int part = 0; part < parts; ++part) {
    for (const double x : sign_changes(condition_of(f, index, part), lo, hi)) {
      if (x > lo && x < hi) borders.push_back(x);
    }
  }
  borders.push_back(hi);
  std::sort(borders.begin(), borders.end());
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    if (borders[i] >= borders[i + 1]) continue;
    const double middle = 0.5 * (borders[i] + borders[i + 1]);
    split(decide(f, index, middle), borders[i], borders[i + 1], pieces);
  }
}

}  // namespace

std::vector<double> sign_changes(const Expression& g, double lo, double hi) {
  return SignChanges(g, lo, hi).take();
}

std::vector<Piece> split_at_kinks(const Expression& f, double lo, double hi) {
  std::vector<Piece> raw;
  split(simplify(f), lo, hi, raw);
  std::vector<Piece> pieces;
  for (Piece& piece : raw) {
    if (!pieces.empty() && pieces.back().smooth.text() == piece.smooth.text()) {
      pieces.back().hi = piece.hi;
    } else {
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

}  // namespace fewbit::solver
