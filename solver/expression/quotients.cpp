#include "expression/quotients.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"
#include "expression/decide.hpp"
#include "expression/evaluate.hpp"
#include "expression/fraction.hpp"
#include "expression/zeros.hpp"

namespace fewbit::solver {

namespace {

class Mender {
 public:
  Mender(const Expression& f, double lo, double hi)
      : original_(f), lo_(lo), hi_(hi), reach_(std::max({hi - lo, std::abs(lo), std::abs(hi)})) {}

  void mend(const Piece& piece) {
    const std::vector<Node>& nodes = piece.smooth.nodes();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].op != Op::divide) continue;
      if (const auto fraction = fraction_in(piece, nodes[i])) {
        cut(piece, i, *fraction);
        return;
      }
    }
    for (const double x : mended_) check_value(piece, x);
    pieces_.push_back(piece);
  }

  std::vector<Piece> take() { return std::move(pieces_); }

 private:
  static constexpr long kMostWork = 2000000;
  static constexpr long kMostForOne = 100000;

  static Expression part_of(const Expression& f, int root) {
    TapeBuilder tape;
    for (int i = 0; i <= root; ++i) tape.add(f.nodes()[static_cast<size_t>(i)]);
    return Expression(tape.take(root));
  }

  /// Of a quotient, around a point whose neighbourhood reaches into the piece.
  std::optional<Fraction> fraction_in(const Piece& piece, const Node& quotient) {
    const Expression denominator = part_of(piece.smooth, quotient.b);
    for (const double x : zeros_of(denominator)) {
      const bool rounded = std::find(mended_.begin(), mended_.end(), x) != mended_.end();
      auto fraction =
          fraction_at(part_of(piece.smooth, quotient.a), denominator, x, reach_, rounded);
      if (fraction && x - fraction->radius < piece.hi && x + fraction->radius > piece.lo) {
        return fraction;
      }
    }
    return std::nullopt;
  }

  /// In the domain and around it.
  const std::vector<double>& zeros_of(const Expression& denominator) {
    const auto [place, fresh] = zeros_.try_emplace(denominator.text());
    std::vector<double>& all = place->second;
    if (!fresh) return all;
    for (const auto& [lo, hi] :
         {std::pair{lo_, hi_}, std::pair{lo_ - reach_, lo_}, std::pair{hi_, hi_ + reach_}}) {
      long work = std::min(work_, kMostForOne);
      work_ -= work;
      const std::vector<double> found = zeros(denominator, lo, hi, work);
      work_ += work;
      all.insert(all.end(), found.begin(), found.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  void cut(const Piece& piece, size_t quotient, const Fraction& fraction) {
    const double a = std::max(piece.lo, fraction.x - fraction.radius);
    const double b = std::min(piece.hi, fraction.x + fraction.radius);
    mended_.push_back(fraction.x);
    if (piece.lo < a) mend({piece.lo, a, piece.smooth});
    mend({a, b, replaced(piece.smooth, quotient, fraction)});
    if (b < piece.hi) mend({b, piece.hi, piece.smooth});
  }

  static Expression replaced(const Expression& f, size_t quotient, const Fraction& fraction) {
    TapeBuilder tape;
    std::vector<int> place;
    for (size_t i = 0; i < f.nodes().size(); ++i) {
      Node copy = f.nodes()[i];
      for (int* operand : {&copy.a, &copy.b, &copy.c}) {
        if (*operand >= 0) *operand = place[static_cast<size_t>(*operand)];
      }
      place.push_back(i == quotient ? add_fraction(tape, fraction) : tape.add(copy));
    }
    return simplify(Expression(tape.take(place.back())));
  }

  void check_value(const Piece& piece, double x) const {
    if (x < piece.lo || x > piece.hi) return;
    const double limit = piece.smooth.evaluate(x) + 0.0;  // no negative zero
    if (!std::isfinite(limit)) return;                    // at another quotient
    const double value = original_.evaluate(x);
    if (!std::isfinite(value)) {
      throw Error("expression: not finite at x = " + shortest(x) + ": " + shown() +
                  "; its limit there is " + shortest(limit) +
                  ", so write where(x == " + shortest(x) + ", " + shortest(limit) + ", ...)");
    }
    if (x == piece.lo || x == piece.hi) return;  // a condition may change there
    const double size = std::max({std::abs(limit), std::abs(piece.smooth.evaluate(piece.lo)),
                                  std::abs(piece.smooth.evaluate(piece.hi))});
    if (std::abs(value - limit) <= kSame * size) return;
    throw Error("expression: is " + shortest(value) + " at x = " + shortest(x) +
                ", but its limit there is " + shortest(limit) + ": " + shown());
  }

  std::string shown() const {
    constexpr size_t kShown = 200;
    const std::string text = original_.text();
    return text.size() > kShown ? text.substr(0, kShown) + "..." : text;
  }

  static constexpr double kSame = 1e-6;  ///< limits may be typed with few digits

  const Expression& original_;
  double lo_;
  double hi_;
  double reach_;
  long work_ = kMostWork;
  std::map<std::string, std::vector<double>> zeros_;  ///< by denominator
  std::vector<double> mended_;                        ///< points of fractions
  std::vector<Piece> pieces_;
};

}  // namespace

std::vector<Piece> mend_quotients(const Expression& f, const std::vector<Piece>& pieces) {
  Mender mender(f, pieces.front().lo, pieces.back().hi);
  for (const Piece& piece : pieces) mender.mend(piece);
  return mender.take();
}

}  // namespace fewbit::solver
