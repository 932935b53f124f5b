#include "expression/pieces.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "expression/decide.hpp"
#include "expression/quotients.hpp"
#include "expression/sign_changes.hpp"

namespace fewbit::solver {

namespace {

class Splitter {
 public:
  Splitter(double lo, double hi) : lo_(lo), hi_(hi) {}

  void split(const Expression& f, double lo, double hi) {
    const int next = next_switch(f);
    if (next < 0) {
      add({lo, hi, f});
      return;
    }
    const auto index = static_cast<size_t>(next);
    const std::vector<double> borders = borders_of(f, index, lo, hi);
    for (size_t i = 0; i + 1 < borders.size(); ++i) {
      const double middle = 0.5 * (borders[i] + borders[i + 1]);
      work_ -= static_cast<long>(f.nodes().size());
      if (work_ < 0) refuse();
      split(decide(f, index, middle), borders[i], borders[i + 1]);
    }
  }

  std::vector<Piece> take() { return std::move(pieces_); }

 private:
  static constexpr size_t kMostPieces = 4096;
  static constexpr long kMostWork = 3000000;
  static constexpr long kMostForOne = 200000;

  [[noreturn]] void refuse() const {
    throw Error("expression: has too many kinks in [" + shortest(lo_) + ", " + shortest(hi_) + "]");
  }

  std::vector<double> borders_of(const Expression& f, size_t index, double lo, double hi) {
    std::vector<double> borders{lo, hi};
    const int parts = f.nodes()[index].op == Op::clamp ? 2 : 1;
    for (int part = 0; part < parts; ++part) {
      const Expression condition = condition_of(f, index, part);
      long work = std::min(work_, kMostForOne);
      work_ -= work;
      const SignChanges changes = sign_changes(condition, lo, hi, work);
      work_ += work;
      if (!changes.complete) {
        throw Error("expression: cannot tell where the sign of a condition changes: " +
                    condition.text());
      }
      for (const double x : changes.points) {
        if (x > lo && x < hi) borders.push_back(x);
      }
    }
    std::sort(borders.begin(), borders.end());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    return borders;
  }

  void add(Piece piece) {
    if (!pieces_.empty() && pieces_.back().smooth.text() == piece.smooth.text()) {
      pieces_.back().hi = piece.hi;
      return;
    }
    if (pieces_.size() == kMostPieces) refuse();
    pieces_.push_back(std::move(piece));
  }

  double lo_;
  double hi_;
  long work_ = kMostWork;  ///< nodes that may still be visited
  std::vector<Piece> pieces_;
};

}  // namespace

std::vector<Piece> split_at_kinks(const Expression& f, double lo, double hi) {
  Splitter splitter(lo, hi);
  splitter.split(simplify(f), lo, hi);
  return mend_quotients(f, splitter.take());
}

}  // namespace fewbit::solver
