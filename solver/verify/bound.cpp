// Lower bound for cutting a line into parts, by dynamic programs on ever finer cells.
//
// Invariant: there is an optimal cut whose k-th point lies in a cell that `survivors_[k]` holds.
// Rounding. Let a cell hold the mass m of values that swing by osc.
//   spread: an optimal cut inside a cell can be taken to lie at s with f'(s) = (y + y') / 2, y and
//   y'
//     being the levels of its sides: otherwise it moves to an end of the cell at no cost. With the
//     levels held fixed, moving it to an end costs 2 |y' - y| times the integral of |v - f'(s)|
//     over the part moved over. f' is monotone on a cell, so the smaller one of the two integrals
//     is at most osc m / 4: the cost is at most |y' - y| osc m / 2. Two cuts or more in one cell
//     move to both of its ends: what lay between them costs at most osc^2 m / 4 as a part of its
//     own.
//   coding: move each cut to a or b at random, so that its expectation stays. Values outside of the
//     cell see the same expected cost, as it is linear in each of the two cuts around them; those
//     inside cost (y' - y)(s - a)(b - s) / (b - a) more at most, y and y' being the cuts before and
//     after. So some choice costs at most (y' - y) osc m / 4. Two cuts in one cell: as above.
// Bounds of y and y' come from the survivors, and from the fact that no part of an optimal cut
// costs more than the whole. A point's discount is the larger one of its cells' corrections: the
// program over points, every total less the discounts passed, is a lower bound. A cell whose totals
// at both ends stay above the attained one cannot hold the cut: it is dropped. Survivors are split
// by four, which makes corrections sixteen times smaller.
//
// Complexity per round O(parts * survivors * reach), reach being cut short where the cost of one
// part alone exceeds what is attained: costs grow with inclusion.

#include "verify/bound.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

namespace fewbit::solver {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMaxRounds = 40;
constexpr int kSplit = 4;
constexpr size_t kFirstCells = 8;  // per part, and within these limits
constexpr size_t kFewestCells = 64;
constexpr size_t kMostCells = 2048;
constexpr double kNegligible = 1e-9;  // of the mass: means of less are too inexact

using Index = std::uint32_t;

struct Cell {
  double swing;
  double mass;
  Index before;  ///< the cut before lies here or to the right, by costs alone,
  Index after;   ///< and the cut after here or to the left
};

double spread_cost(const Point& a, const Point& b) {
  const Moments part = b.before - a.before;
  if (!(part.mass > 0.0)) return 0.0;
  return std::max(0.0, part.second - part.first * part.first / part.mass);
}

class Program {
 public:
  Program(const Line& line, const BoundRequest& request)
      : line_(line), request_(request), best_(request.attained), cuts_(cut_count(request)) {
    lay_first_cells();
  }

  double run() {
    double bound = 0.0;
    for (int round = 0; round < kMaxRounds; ++round) {
      measure_cells();
      forward();
      bound = std::max(bound, std::min(ends_total_ - request_.rounding, best_));
      if (bound >= request_.claim || work_ > request_.work_limit) break;
      if (bound + 4.0 * request_.rounding >= best_) break;  // as near as rounding lets it come
      backward();
      if (!drop_cells()) return best_;
      if (!split_cells()) break;
    }
    return bound;
  }

 private:
  struct Layer {
    std::vector<Index> cells;         ///< surviving cells by their left point, ascending
    std::vector<double> corrections;  ///< of these
    std::vector<Index> points;        ///< their ends, ascending
    std::vector<double>
        before;  ///< least discounted total up to the point, its own discount not yet
    std::vector<double> after;  ///< the same for the rest
    std::vector<double> discount;
    std::vector<Index> parent;
    double largest = 0.0;  ///< discount
  };

  static size_t cut_count(const BoundRequest& request) {
    return static_cast<size_t>(request.parts) - 1;
  }

  double cost(const Point& a, const Point& b) const {
    if (request_.cost == PartCost::spread) return spread_cost(a, b);
    const Moments part = b.before - a.before;
    const double from = a.at - center_;
    const double to = b.at - center_;
    return std::max(0.0, (from + to) * part.first - part.second - from * to * part.mass);
  }

  void lay_first_cells();
  void set_discounts();
  void add_inner_points(size_t cell, std::vector<Point>& points) const;
  void measure_cells();
  void forward();
  void backward();
  void sweep_forward(const Layer& from, Layer& to, double limit);
  void sweep_backward(const Layer& from, Layer& to, double limit);
  void take_path_as_attained();
  bool drop_cells();
  bool split_cells();
  double correction(Index cell, Index before, Index after) const;
  double level_gap(const Point& before, Index cell, const Point& after) const;
  void set_points(Layer& layer) const;

  const Line& line_;
  const BoundRequest& request_;
  double best_;  ///< smallest total of a cut seen
  size_t cuts_;
  double center_ = 0.0;
  std::vector<Point> points_;
  std::vector<Cell> cells_;    ///< by left point; only survivors' entries are kept up to date
  std::vector<Index> alive_;   ///< cells that some layer holds
  std::vector<Layer> layers_;  ///< 0: the first point; 1 to cuts_; the last point
  double ends_total_ = 0.0;
  double work_ = 0.0;
};

void Program::lay_first_cells() {
  center_ = line_.center();
  points_ = line_.fixed_points();
  const auto weight_of = [&](size_t left, size_t right) {
    const Point& a = points_[left];
    const Point& b = points_[right];
    const double middle = a.at + (b.at - a.at) / 2;
    if (!(a.at < middle && middle < b.at)) return 0.0;
    return line_.swing(a, b) * (b.before.mass - a.before.mass);
  };
  using Entry = std::tuple<double, size_t, size_t>;
  std::priority_queue<Entry> heaviest;
  for (size_t i = 0; i + 1 < points_.size(); ++i) heaviest.emplace(weight_of(i, i + 1), i, i + 1);
  const size_t wanted = std::clamp(kFirstCells * (cuts_ + 1), kFewestCells, kMostCells);
  while (points_.size() <= wanted && !heaviest.empty()) {
    const auto [weight, left, right] = heaviest.top();
    heaviest.pop();
    if (!(weight > 0.0)) break;
    const double middle = points_[left].at + (points_[right].at - points_[left].at) / 2;
    points_.push_back(line_.point(middle));
    heaviest.emplace(weight_of(left, points_.size() - 1), left, points_.size() - 1);
    heaviest.emplace(weight_of(points_.size() - 1, right), points_.size() - 1, right);
  }
  std::stable_sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return a.at < b.at || (a.at == b.at && a.before.mass < b.before.mass);
  });
  alive_.resize(points_.size() - 1);
  std::iota(alive_.begin(), alive_.end(), Index{0});
  layers_.resize(cuts_ + 2);
  for (size_t k = 1; k <= cuts_; ++k) layers_[k].cells = alive_;
}

void Program::measure_cells() {
  for (Layer& layer : layers_) set_points(layer);
  layers_.front().points = {0};
  layers_.back().points = {static_cast<Index>(points_.size() - 1)};
  cells_.assign(points_.size(), {});
  const double limit = best_ + request_.rounding;
  const double mass_error = 1e-15 * points_.back().before.mass;
  size_t left = 0;
  size_t right = 0;
  for (const Index i : alive_) {
    const Point& a = points_[i];
    const Point& b = points_[i + 1];
    while (left + 1 < i && cost(points_[left + 1], a) > limit) ++left;
    right = std::max<size_t>(right, i + 1);
    while (right + 1 < points_.size() && cost(b, points_[right]) <= limit) ++right;
    const double mass = std::max(0.0, b.before.mass - a.before.mass) + mass_error;
    cells_[i] = {line_.swing(a, b), mass, static_cast<Index>(left), static_cast<Index>(right)};
  }
  work_ += 3.0 * static_cast<double>(points_.size());
}

void Program::set_points(Layer& layer) const {
  layer.points.clear();
  for (const Index cell : layer.cells) {
    if (layer.points.empty() || layer.points.back() != cell) layer.points.push_back(cell);
    layer.points.push_back(cell + 1);
  }
}

/// Bounds |y' - y| around a cut in `cell`, the cuts before and after it lying within the two
/// points.
double Program::level_gap(const Point& before, Index cell, const Point& after) const {
  if (before.stretch_right != after.stretch_left) return line_.swing(before, after);
  // f' is monotone from before to after: means grow with both ends of their part, or fall.
  const Moments left = points_[cell].before - before.before;
  const Moments right = after.before - points_[cell + 1].before;
  const double least = kNegligible * points_.back().before.mass;
  if (!(left.mass > least && right.mass > least)) return line_.swing(before, after);
  return std::fabs(right.first / right.mass - left.first / left.mass);
}

double Program::correction(Index cell, Index before, Index after) const {
  const Point& left = points_[std::max(before, cells_[cell].before)];
  const Point& right = points_[std::min(after, cells_[cell].after)];
  const double swing = cells_[cell].swing;
  const double factor = request_.cost == PartCost::spread
                            ? std::max(level_gap(left, cell, right), swing / 2) / 2
                            : std::max(right.at - left.at, swing) / 4;
  return swing * cells_[cell].mass * factor * (1.0 + 1e-6);
}

void Program::set_discounts() {
  for (size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    layer.discount.assign(layer.points.size(), 0.0);
    layer.corrections.clear();
    size_t at = 0;
    for (const Index cell : layer.cells) {
      while (layer.points[at] != cell) ++at;
      const double cut =
          correction(cell, layers_[k - 1].points.front(), layers_[k + 1].points.back());
      layer.corrections.push_back(cut);
      layer.discount[at] = std::max(layer.discount[at], cut);
      layer.discount[at + 1] = std::max(layer.discount[at + 1], cut);
    }
    layer.largest = *std::max_element(layer.discount.begin(), layer.discount.end());
  }
}

void Program::forward() {
  set_discounts();
  double later = 0.0;
  for (const Layer& layer : layers_) later += layer.largest;
  layers_.front().before = {0.0};
  for (size_t k = 1; k < layers_.size(); ++k) {
    sweep_forward(layers_[k - 1], layers_[k], best_ + 3.0 * request_.rounding + later);
    later -= layers_[k].largest;
  }
  ends_total_ = layers_.back().before.front();
  take_path_as_attained();
}

void Program::sweep_forward(const Layer& from, Layer& to, double limit) {
  std::vector<double> total(from.points.size());
  std::vector<double> least(from.points.size());
  for (size_t s = 0; s < total.size(); ++s) {
    total[s] = from.before[s] - from.discount[s];
    least[s] = s > 0 ? std::min(least[s - 1], total[s]) : total[s];
  }
  to.before.assign(to.points.size(), kInfinity);
  to.parent.assign(to.points.size(), 0);
  size_t end = 0;
  for (size_t t = 0; t < to.points.size(); ++t) {
    while (end < from.points.size() && from.points[end] <= to.points[t]) ++end;
    double smallest = kInfinity;
    for (size_t s = end; s-- > 0;) {
      const double part = cost(points_[from.points[s]], points_[to.points[t]]);
      ++work_;
      if (total[s] + part < smallest) {
        smallest = total[s] + part;
        to.parent[t] = static_cast<Index>(s);
      }
      if (least[s] + part >= std::min(smallest, limit)) break;
    }
    to.before[t] = smallest;
  }
}

void Program::take_path_as_attained() {
  if (!(ends_total_ < kInfinity)) return;
  double total = 0.0;
  size_t at = 0;
  for (size_t k = layers_.size() - 1; k > 0; --k) {
    const size_t parent = layers_[k].parent[at];
    total += cost(points_[layers_[k - 1].points[parent]], points_[layers_[k].points[at]]);
    at = parent;
  }
  best_ = std::min(best_, total);
}

void Program::backward() {
  double earlier = 0.0;
  for (const Layer& layer : layers_) earlier += layer.largest;
  layers_.back().after = {0.0};
  for (size_t k = layers_.size() - 1; k-- > 1;) {
    sweep_backward(layers_[k + 1], layers_[k], best_ + 3.0 * request_.rounding + earlier);
    earlier -= layers_[k].largest;
  }
}

void Program::sweep_backward(const Layer& from, Layer& to, double limit) {
  std::vector<double> total(from.points.size());
  std::vector<double> least(from.points.size());
  for (size_t s = total.size(); s-- > 0;) {
    total[s] = from.after[s] - from.discount[s];
    least[s] = s + 1 < total.size() ? std::min(least[s + 1], total[s]) : total[s];
  }
  to.after.assign(to.points.size(), kInfinity);
  size_t begin = from.points.size();
  for (size_t t = to.points.size(); t-- > 0;) {
    while (begin > 0 && from.points[begin - 1] >= to.points[t]) --begin;
    double smallest = kInfinity;
    for (size_t s = begin; s < from.points.size(); ++s) {
      const double part = cost(points_[to.points[t]], points_[from.points[s]]);
      ++work_;
      smallest = std::min(smallest, total[s] + part);
      if (least[s] + part >= std::min(smallest, limit)) break;
    }
    to.after[t] = smallest;
  }
}

/// False when no cell is left for some cut: then nothing is below the attained total.
bool Program::drop_cells() {
  const double limit = best_ + 2.0 * request_.rounding;
  for (size_t k = 1; k <= cuts_; ++k) {
    Layer& layer = layers_[k];
    size_t at = 0;
    size_t kept = 0;
    for (size_t i = 0; i < layer.cells.size(); ++i) {
      while (layer.points[at] != layer.cells[i]) ++at;
      const double through =
          std::min(layer.before[at] + layer.after[at], layer.before[at + 1] + layer.after[at + 1]);
      if (through - layer.corrections[i] > limit) continue;
      layer.cells[kept] = layer.cells[i];
      layer.corrections[kept++] = layer.corrections[i];
    }
    layer.cells.resize(kept);
    if (layer.cells.empty()) return false;
  }
  return true;
}

/// False when no cell is worth it or can be split.
bool Program::split_cells() {
  std::vector<double> largest(points_.size(), -1.0);
  for (const Layer& layer : layers_) {
    for (size_t i = 0; i < layer.cells.size(); ++i) {
      largest[layer.cells[i]] = std::max(largest[layer.cells[i]], layer.corrections[i]);
    }
  }
  const double harmless = (best_ - request_.claim) / (2.0 * static_cast<double>(cuts_));
  std::vector<Point> points = {points_.front()};
  std::vector<Index> first(points_.size());
  std::vector<Index> count(points_.size(), 0);
  size_t last = 0;  // old index of the last point taken over
  bool split = false;
  alive_.clear();
  for (size_t cell = 0; cell + 1 < points_.size(); ++cell) {
    if (largest[cell] < 0.0) continue;
    if (cell != last) points.push_back(points_[cell]);
    first[cell] = static_cast<Index>(points.size() - 1);
    if (largest[cell] > harmless && cells_[cell].swing > 0.0) add_inner_points(cell, points);
    points.push_back(points_[cell + 1]);
    last = cell + 1;
    count[cell] = static_cast<Index>(points.size() - 1) - first[cell];
    split = split || count[cell] > 1;
    for (Index part = 0; part < count[cell]; ++part) alive_.push_back(first[cell] + part);
  }
  if (last + 1 != points_.size()) points.push_back(points_.back());
  for (Layer& layer : layers_) {
    std::vector<Index> cells;
    for (const Index cell : layer.cells) {
      for (Index part = 0; part < count[cell]; ++part) cells.push_back(first[cell] + part);
    }
    layer.cells = std::move(cells);
  }
  work_ += 100.0 * static_cast<double>(points.size());
  points_ = std::move(points);
  return split;
}

void Program::add_inner_points(size_t cell, std::vector<Point>& points) const {
  const double a = points_[cell].at;
  const double b = points_[cell + 1].at;
  for (int part = 1; part < kSplit; ++part) {
    const double at = a + (b - a) * part / kSplit;
    if (at > points.back().at && at < b) points.push_back(line_.point(at));
  }
}

}  // namespace

double lower_bound_of(const Line& line, const BoundRequest& request) {
  return Program(line, request).run();
}

}  // namespace fewbit::solver
