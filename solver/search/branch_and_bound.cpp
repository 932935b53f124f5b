#include "search/branch_and_bound.hpp"

// Branch and bound over the cells of an axis.
// For every optimal table, moving cut k to one end of the cell that holds it costs at most
// Cost::correction(cell). So some choice of cuts on borders costs at most OPT + C, with C the sum
// over k of the largest correction among the cells that may hold cut k; hence OPT >= G - C with G
// the best program on the borders, and a cell is excluded for cut k once every program through its
// ends costs more than the incumbent + C. Survivors are split by four; corrections fall by sixteen.
// Invariant: for each k the surviving cells contain cut k of every optimal table.
// Complexity: one program on all borders, then programs on a handful of survivors per cut.

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/segment_cost.hpp"
#include "search/segment_program.hpp"

namespace fewbit::solver {

namespace {

constexpr uint32_t kSplit = 4;
constexpr size_t kMaxRounds = 40;
constexpr size_t kMaxSurvivors = 3'000'000;

/// A border takes a partial panel, or one for each branch of f': as long as this many costs.
constexpr double kBorderWork = 100.0;

/// What is known of an optimal table with a cut in the cell behind a border.
struct Cell {
  CellBounds bounds;
  double correction;
};

template <class Cost>
class BranchAndBound {
 public:
  BranchAndBound(const Axis& axis, size_t segments, const Polish& polish,
                 const BoundOptions& options)
      : axis_(axis), polish_(polish), options_(options), survivors_(segments - 1) {}

  BoundResult run() {
    first_round();
    double before = 0.0;
    for (size_t round = 1; round < kMaxRounds && !finished(); ++round) {
      // The survivors of a round cost about as much as those of the round before.
      if (work_ + (work_ - before) > options_.work_limit) break;
      before = work_;
      if (!split_survivors()) break;
      bound();
    }
    result_.lower_bound = std::min(result_.lower_bound, result_.cost);
    return result_;
  }

 private:
  using Program = SegmentProgram<Cost>;

  bool finished() const {
    const double gap = result_.cost - result_.lower_bound;
    // Where f' moves by little more than its rounding the incumbent may seem better than all cells.
    const bool nothing_left = std::any_of(survivors_.begin(), survivors_.end(),
                                          [](const IndexSet& cells) { return cells.empty(); });
    return survivors_.empty() || nothing_left || gap <= options_.target_gap * result_.cost ||
           gap <= 4.0 * rounding_ || total_correction() < 0.1 * rounding_;
  }

  /// All cells are candidates for every cut.
  void first_round() {
    borders_ = axis_.first_borders(options_.first_cells);
    borders_.erase(std::unique(borders_.begin(), borders_.end(),
                               [](const Border& a, const Border& b) {
                                 return a.position == b.position && a.prefix.mass == b.prefix.mass;
                               }),
                   borders_.end());
    rounding_ =
        4.8e-16 * static_cast<double>(survivors_.size() + 4) * borders_.back().prefix.second;
    IndexSet all(borders_.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    Program program = program_on(std::vector<IndexSet>(survivors_.size(), all));
    result_.cost = program.best() + rounding_;
    result_.lower_bound = 0.0;
    improve(program);
    if (options_.target_gap >= 1.0) return;
    measure_cells();
    all.pop_back();
    for (IndexSet& cells : survivors_) cells = all;
    exclude(program);
    work_ += kBorderWork * static_cast<double>(borders_.size()) + program.work();
  }

  /// Each segment of an optimal table costs at most the incumbent, and contains all cells strictly
  /// between its cuts: that bounds how far the two segments at a cut reach.
  void measure_cells() {
    const size_t last = borders_.size() - 1;
    std::vector<size_t> reach_left(borders_.size());
    std::vector<size_t> reach_right(borders_.size());
    for (size_t i = 0, left = 0; i <= last; ++i) {
      while (Cost::cost(borders_[left], borders_[i]) > result_.cost) ++left;
      reach_left[i] = left > 0 ? left - 1 : 0;
    }
    for (size_t i = last + 1, right = last; i-- > 0;) {
      while (Cost::cost(borders_[i], borders_[right]) > result_.cost) --right;
      reach_right[i] = std::min(right + 1, last);
    }
    for (size_t i = 0; i < last; ++i) {
      const double reach = reach_between(borders_[reach_left[i]], borders_[i], borders_[i + 1],
                                         borders_[reach_right[i + 1]]);
      cells_.push_back(make_cell(borders_[i], borders_[i + 1], reach));
    }
  }

  /// How far apart the levels beside a cut in [a, b] can be when its segments reach no further than
  /// to `left` and `right`: their values differ by that, their means by less where f' is monotone,
  /// since a mean grows with both ends of its segment.
  double reach_between(const Border& left, const Border& a, const Border& b,
                       const Border& right) const {
    const double swing = axis_.swing(left.position, right.position);
    if (!Cost::kLevelsAreMeans || !axis_.is_monotone(left.position, right.position)) return swing;
    const Moments below = a.prefix - left.prefix;
    const Moments above = right.prefix - b.prefix;
    const Moments& all = borders_.back().prefix;
    if (!(std::min(below.mass, above.mass) > 1e-9 * all.mass)) return swing;
    const double rounding =
        1e-15 * std::sqrt(all.second * all.mass) * (1.0 / below.mass + 1.0 / above.mass);
    const double apart = std::abs(above.first / above.mass - below.first / below.mass);
    return std::min(swing, apart + rounding);
  }

  Cell make_cell(const Border& a, const Border& b, double reach) const {
    const double swing = a.position < b.position ? axis_.swing(a.position, b.position) : 0.0;
    const double mass = std::max(0.0, b.prefix.mass - a.prefix.mass);
    const CellBounds bounds{swing, axis_.is_monotone(a.position, b.position), mass, reach};
    return {bounds, Cost::correction(bounds)};
  }

  Program program_on(std::vector<IndexSet> inner) const {
    inner.insert(inner.begin(), IndexSet{0});
    inner.push_back({static_cast<uint32_t>(borders_.size() - 1)});
    return Program(borders_, std::move(inner),
                   [this](double a, double b) { return axis_.is_monotone(a, b); });
  }

  double largest_correction(const IndexSet& cells) const {
    double largest = 0.0;
    for (const uint32_t cell : cells) largest = std::max(largest, cells_[cell].correction);
    return largest;
  }

  double total_correction() const {
    double sum = 0.0;
    for (const IndexSet& cells : survivors_) sum += largest_correction(cells);
    return sum;
  }

  /// Drops the cells no optimal table can have a cut in, until nothing changes; then the bound.
  void exclude(Program& program) {
    program.look_back();
    for (bool changed = true; changed;) {
      changed = false;
      const double limit = result_.cost + total_correction() + rounding_;
      for (size_t k = 0; k < survivors_.size(); ++k) {
        const IndexSet& borders = program.set(k + 1);
        size_t i = 0;
        const auto hopeless = [&](uint32_t cell) {
          while (borders[i] < cell) ++i;  // both ends of a survivor are in the set
          return std::min(program.best_through(k + 1, i), program.best_through(k + 1, i + 1)) >
                 limit;
        };
        changed = std::erase_if(survivors_[k], hopeless) > 0 || changed;
      }
    }
    result_.lower_bound =
        std::max(result_.lower_bound, program.best() - total_correction() - rounding_);
  }

  /// Splits the cells that survive for some cut, but those whose corrections are far below the
  /// largest one's: a few wide cells at first, which are in the way of excluding any. False when
  /// nothing could be split.
  bool split_survivors() {
    const double negligible =
        0.05 * options_.target_gap * result_.cost / static_cast<double>(survivors_.size() + 1);
    std::vector<bool> wanted(cells_.size());
    size_t count = 0;
    for (const IndexSet& cells : survivors_) {
      const double least = std::max(negligible, largest_correction(cells) / (kSplit * kSplit));
      for (const uint32_t cell : cells) {
        wanted[cell] = wanted[cell] || cells_[cell].correction > least;
      }
      count += cells.size();
    }
    if (count * kSplit > kMaxSurvivors) return false;
    std::vector<uint32_t> start(cells_.size() + 1);  // where the parts of each cell begin
    const BorderSet coarse_borders = std::exchange(borders_, {});
    const std::vector<Cell> coarse_cells = std::exchange(cells_, {});
    for (size_t i = 0; i < coarse_cells.size(); ++i) {
      start[i] = static_cast<uint32_t>(cells_.size());
      append_parts(coarse_borders[i], coarse_borders[i + 1], coarse_cells[i], wanted[i]);
    }
    start.back() = static_cast<uint32_t>(cells_.size());
    borders_.push_back(coarse_borders.back());
    for (IndexSet& cells : survivors_) {
      IndexSet finer;
      for (const uint32_t cell : cells) {
        for (uint32_t part = start[cell]; part < start[cell + 1]; ++part) finer.push_back(part);
      }
      cells = std::move(finer);
    }
    return cells_.size() > coarse_cells.size();
  }

  void append_parts(const Border& a, const Border& b, const Cell& whole, bool split) {
    Border left = a;
    for (uint32_t i = 1; split && i < kSplit; ++i) {
      const double position = a.position + (b.position - a.position) * i / kSplit;
      if (position <= left.position || position >= b.position) continue;
      const Border right = axis_.border(position);
      work_ += kBorderWork;
      append(left, right, whole);
      left = right;
    }
    append(left, b, whole);
  }

  void append(const Border& left, const Border& right, const Cell& whole) {
    borders_.push_back(left);
    cells_.push_back(make_cell(left, right, whole.bounds.reach));
  }

  void bound() {
    std::vector<IndexSet> sets;
    for (const IndexSet& cells : survivors_) {
      IndexSet borders;
      for (const uint32_t cell : cells) {
        if (borders.empty() || borders.back() < cell) borders.push_back(cell);
        borders.push_back(cell + 1);
      }
      sets.push_back(std::move(borders));
    }
    Program program = program_on(std::move(sets));
    improve(program);
    exclude(program);
    work_ += program.work();
  }

  void improve(const Program& program) {
    // Cuts on borders that are no better than the incumbent lie around it.
    const bool better = program.best() + rounding_ < result_.cost;
    if (!better && !result_.cuts.empty()) return;
    result_.cuts = program.cuts();
    result_.cost = std::min(result_.cost, program.best() + rounding_);
    if (result_.cuts.empty()) return;
    // Polished cuts are preferred also where the gain is below rounding.
    const std::vector<double> polished = polish_(result_.cuts);
    const double cost = cost_of(polished) + rounding_;
    if (cost <= result_.cost + rounding_) {
      result_.cost = std::min(result_.cost, cost);
      result_.cuts = polished;
    }
  }

  double cost_of(const std::vector<double>& cuts) const {
    double sum = 0.0;
    Border left = borders_.front();
    for (const double position : cuts) {
      const Border right = axis_.border(position);
      sum += Cost::cost(left, right);
      left = right;
    }
    return sum + Cost::cost(left, borders_.back());
  }

  const Axis& axis_;
  const Polish& polish_;
  const BoundOptions& options_;
  BorderSet borders_;
  std::vector<Cell> cells_;          ///< cell i lies between borders i and i + 1
  std::vector<IndexSet> survivors_;  ///< cells that may hold each inner cut
  BoundResult result_{};
  double work_ = 0.0;      ///< evaluations of a cost, or what takes as long
  double rounding_ = 0.0;  ///< what rounding may have done to the cost of a program
};

}  // namespace

template <class Cost>
BoundResult minimise_segments(const Axis& axis, size_t segments, const Polish& polish,
                              const BoundOptions& options) {
  return BranchAndBound<Cost>(axis, segments, polish, options).run();
}

template BoundResult minimise_segments<VarianceCost>(const Axis&, size_t, const Polish&,
                                                     const BoundOptions&);
template BoundResult minimise_segments<RoundingCost>(const Axis&, size_t, const Polish&,
                                                     const BoundOptions&);

}  // namespace fewbit::solver
