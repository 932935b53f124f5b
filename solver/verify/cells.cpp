// The cells of the bound's program: how they are laid, measured, corrected for and split.

#include <cmath>
#include <numeric>
#include <queue>
#include <tuple>

#include "verify/program.hpp"

namespace fewbit::solver {

namespace {
constexpr int kSplitDepth = 8;
constexpr size_t kFirstCells = 8;  // per part, and within these limits
constexpr size_t kFewestCells = 64;
constexpr size_t kMostCells = 2048;
constexpr double kNegligible = 1e-9;  // of the mass: means of less are too inexact
}  // namespace

void Program::lay_first_cells() {
  points_ = line_.fixed_points();
  const auto weight_of = [&](size_t left, size_t right) {
    const LinePoint& a = points_[left];
    const LinePoint& b = points_[right];
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
  std::stable_sort(points_.begin(), points_.end(), [](const LinePoint& a, const LinePoint& b) {
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
    const LinePoint& a = points_[i];
    const LinePoint& b = points_[i + 1];
    while (left + 1 < i && cost_(points_[left + 1], a) > limit) ++left;
    right = std::max<size_t>(right, i + 1);
    while (right + 1 < points_.size() && cost_(b, points_[right]) <= limit) ++right;
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

double Program::level_gap(const LinePoint& before, Index cell, const LinePoint& after) const {
  if (before.stretch_right != after.stretch_left) return line_.swing(before, after);
  // f' is monotone from before to after: means grow with both ends of their part, or fall.
  const AxisMoments left = points_[cell].before - before.before;
  const AxisMoments right = after.before - points_[cell + 1].before;
  const double least = kNegligible * points_.back().before.mass;
  if (!(left.mass > least && right.mass > least)) return line_.swing(before, after);
  return std::fabs(right.first / right.mass - left.first / left.mass);
}

double Program::correction(Index cell, Index before, Index after) const {
  const LinePoint& left = points_[std::max(before, cells_[cell].before)];
  const LinePoint& right = points_[std::min(after, cells_[cell].after)];
  const double swing = cells_[cell].swing;
  const double factor = request_.cost == PartCost::spread
                            ? std::max(level_gap(left, cell, right), swing / 2) / 2
                            : std::max(right.at - left.at, swing) / 4;
  return swing * cells_[cell].mass * factor * (1.0 + 1e-6);
}

bool Program::split_cells() {
  std::vector<double> largest(points_.size(), -1.0);
  for (const Layer& layer : layers_) {
    for (size_t i = 0; i < layer.cells.size(); ++i) {
      largest[layer.cells[i]] = std::max(largest[layer.cells[i]], layer.corrections[i]);
    }
  }
  const double harmless = (best_ - request_.claim) / (2.0 * static_cast<double>(cuts_));
  std::vector<LinePoint> points = {points_.front()};
  std::vector<Index> first(points_.size());
  std::vector<Index> count(points_.size(), 0);
  size_t last = 0;  // old index of the last point taken over
  bool split = false;
  alive_.clear();
  for (size_t cell = 0; cell + 1 < points_.size(); ++cell) {
    if (largest[cell] < 0.0) continue;
    if (cell != last) points.push_back(points_[cell]);
    first[cell] = static_cast<Index>(points.size() - 1);
    if (largest[cell] > harmless && cells_[cell].swing > 0.0) {
      const double goal = cells_[cell].swing * cells_[cell].mass / 15.0;
      add_inner_points(points_[cell], points_[cell + 1], goal, kSplitDepth, points);
    }
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

void Program::add_inner_points(const LinePoint& a, const LinePoint& b, double goal, int depth,
                               std::vector<LinePoint>& points) const {
  const double middle = a.at + (b.at - a.at) / 2;
  if (depth == 0 || !(a.at < middle && middle < b.at)) return;
  if (depth < kSplitDepth && line_.swing(a, b) * (b.before.mass - a.before.mass) <= goal) return;
  const LinePoint inner = line_.point(middle);
  add_inner_points(a, inner, goal, depth - 1, points);
  points.push_back(inner);
  add_inner_points(inner, b, goal, depth - 1, points);
}

}  // namespace fewbit::solver
