#include "tests/proven/best_on_samples.hpp"

#include <algorithm>
#include <cmath>

namespace fewbit::test {

namespace {

constexpr size_t kPlaces = 250;

/// Atoms in order, x for `intervals` and f' for the others. Segment (i, j] costs what its atoms
/// are from their mean; for `unbiased` cuts are levels, and it costs the variance of rounding.
class Line {
 public:
  Line(std::vector<Atom> atoms, solver::Form form, const solver::Domain& ends)
      : unbiased_(form == solver::Form::unbiased) {
    std::sort(atoms.begin(), atoms.end(), [&](const Atom& a, const Atom& b) {
      return form == solver::Form::intervals ? a.x < b.x : a.value < b.value;
    });
    if (unbiased_) atoms.insert(atoms.begin(), {0.0, ends.lo, 0.0});
    if (unbiased_) atoms.push_back({0.0, ends.hi, 0.0});
    sums_.push_back({});
    for (const Atom& atom : atoms) {
      const long double n = atom.count;
      const long double v = atom.value;
      const Sums& last = sums_.back();
      sums_.push_back({last.count + n, last.first + n * v, last.second + n * v * v});
      values_.push_back(atom.value);
    }
  }

  size_t first() const { return unbiased_ ? 1 : 0; }
  size_t last() const { return values_.size(); }
  long double total() const { return sums_.back().count; }

  long double cost(size_t i, size_t j) const {
    if (j <= i) return 0.0L;
    const long double n = sums_[j].count - sums_[i].count;
    const long double first = sums_[j].first - sums_[i].first;
    const long double second = sums_[j].second - sums_[i].second;
    if (n == 0.0L) return 0.0L;
    if (!unbiased_) return std::max(0.0L, second - first * first / n);
    const long double a = values_[i - 1];
    const long double b = values_[j - 1];
    return std::max(0.0L, (a + b) * first - a * b * n - second);
  }

 private:
  struct Sums {
    long double count = 0.0L;
    long double first = 0.0L;
    long double second = 0.0L;
  };
  bool unbiased_;
  std::vector<double> values_;
  std::vector<Sums> sums_;
};

/// The best cuts, both ends among them, at `places` only.
std::vector<size_t> program(const Line& line, const std::vector<size_t>& places, size_t segments) {
  const size_t n = places.size();
  std::vector<long double> best(n, INFINITY);
  std::vector<std::vector<size_t>> from(segments + 1, std::vector<size_t>(n, 0));
  best[0] = 0.0L;
  for (size_t k = 1; k <= segments; ++k) {
    std::vector<long double> next(n, INFINITY);
    for (size_t j = 0; j < n; ++j) {
      for (size_t i = 0; i <= j; ++i) {
        const long double total = best[i] + line.cost(places[i], places[j]);
        if (total >= next[j]) continue;
        next[j] = total;
        from[k][j] = i;
      }
    }
    best = next;
  }
  std::vector<size_t> cuts{places.back()};
  for (size_t k = segments, at = n - 1; k > 0; --k) {
    at = from[k][at];
    cuts.insert(cuts.begin(), places[at]);
  }
  return cuts;
}

bool move_cuts(const Line& line, std::vector<size_t>& cuts, size_t reach) {
  bool moved = false;
  for (size_t k = 1; k + 1 < cuts.size(); ++k) {
    const auto cost = [&](size_t at) {
      return line.cost(cuts[k - 1], at) + line.cost(at, cuts[k + 1]);
    };
    size_t best = cuts[k];
    const size_t lo = std::max(cuts[k - 1], cuts[k] - std::min(cuts[k], reach));
    for (size_t at = lo; at <= std::min(cuts[k + 1], cuts[k] + reach); ++at) {
      if (cost(at) < cost(best) * (1.0L - 1e-12L)) best = at;
    }
    moved = moved || best != cuts[k];
    cuts[k] = best;
  }
  return moved;
}

}  // namespace

double best_on_samples(std::vector<Atom> atoms, solver::Form form, int levels,
                       const solver::Domain& ends) {
  const Line line(std::move(atoms), form, ends);
  const size_t length = line.last() - line.first();
  const size_t count = std::min(length, kPlaces);
  std::vector<size_t> places;
  for (size_t i = 0; i <= count; ++i) places.push_back(line.first() + i * length / count);
  const auto segments = static_cast<size_t>(form == solver::Form::unbiased ? levels - 1 : levels);
  std::vector<size_t> cuts = program(line, places, segments);
  for (int round = 0; round < 1000 && move_cuts(line, cuts, 2 * length / count + 1); ++round) {
  }
  long double sum = 0.0L;
  for (size_t k = 0; k + 1 < cuts.size(); ++k) sum += line.cost(cuts[k], cuts[k + 1]);
  return static_cast<double>(sum / line.total());
}

}  // namespace fewbit::test
