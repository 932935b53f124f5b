// Lower bound for cutting a line into parts, by dynamic programs on ever finer cells.
//
// Invariant: there is an optimal cut whose k-th point lies in a cell that layer k holds.
// Rounding. Let a cell hold the mass m of values that swing by osc.
//   spread: an optimal cut inside a cell can be taken to lie at s with f'(s) = (y + y') / 2, where
//     y and y' are the levels of its sides: otherwise it moves to an end of the cell at no cost.
//     With the levels held fixed, moving it to an end costs 2 |y' - y| times the integral of |v -
//     f'(s)| over the part moved over. f' is monotone on a cell, so the smaller one of the two
//     integrals is at most osc m / 4: the cost is at most |y' - y| osc m / 2. Two cuts or more in
//     one cell move to both of its ends: what lay between them costs at most osc^2 m / 4 as a part
//     of its own.
//   coding: move each cut to a or b at random, so that its expectation stays. Values outside of the
//     cell see the same expected cost, as it is linear in each of the two cuts around them; those
//     inside cost (y' - y)(s - a)(b - s) / (b - a) more at most, y and y' being the cuts before and
//     after. So some choice costs at most (y' - y) osc m / 4. Two cuts in one cell: as above.
// Bounds of y and y' come from the survivors, and from the fact that no part of an optimal cut
// costs more than the whole. A point's discount is the larger one of its cells' corrections: the
// program over points, every total less the discounts passed, is a lower bound. A cell whose totals
// at both ends stay above the attained one cannot hold the cut: it is dropped. Survivors are split
// so that corrections become sixteen times smaller.
//
// Complexity: a first program over some points per part, then rounds over the survivors, whose
// number per cut stays about the same; sweep.cpp says what a step costs.

#include <cmath>

#include "base/infinity.hpp"
#include "verify/program.hpp"

namespace fewbit::solver {

namespace {
constexpr int kMaxRounds = 40;
}  // namespace

Program::Program(const Line& line, const BoundRequest& request)
    : line_(line),
      request_(request),
      cost_{request.cost, line.center()},
      best_(request.attained),
      cuts_(static_cast<size_t>(request.parts) - 1) {
  lay_first_cells();
}

double Program::run() {
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

Sweep Program::sweep(const Layer& from, const Layer& to, bool backward, double limit) {
  std::vector<double> totals = backward ? from.after : from.before;
  for (size_t s = 0; s < totals.size(); ++s) totals[s] -= from.discount[s];
  Sweep sweep{points_, cost_, backward, line_.monotone(), from.points, std::move(totals), to.points,
              limit,   {},    {}};
  if (backward) {
    std::reverse(sweep.sources.begin(), sweep.sources.end());
    std::reverse(sweep.totals.begin(), sweep.totals.end());
    std::reverse(sweep.targets.begin(), sweep.targets.end());
  }
  sweep.run();
  work_ += sweep.work;
  return sweep;
}

void Program::forward() {
  set_discounts();
  double later = 0.0;
  for (const Layer& layer : layers_) later += layer.largest;
  layers_.front().before = {0.0};
  for (size_t k = 1; k < layers_.size(); ++k) {
    Sweep step = sweep(layers_[k - 1], layers_[k], false, best_ + 3.0 * request_.rounding + later);
    layers_[k].before = std::move(step.least);
    layers_[k].parent = std::move(step.parents);
    later -= layers_[k].largest;
  }
  ends_total_ = layers_.back().before.front();
  take_path_as_attained();
}

void Program::take_path_as_attained() {
  if (!(ends_total_ < kInfinity)) return;
  double total = 0.0;
  size_t at = 0;
  for (size_t k = layers_.size() - 1; k > 0; --k) {
    const size_t parent = layers_[k].parent[at];
    total += cost_(points_[layers_[k - 1].points[parent]], points_[layers_[k].points[at]]);
    at = parent;
  }
  best_ = std::min(best_, total);
}

void Program::backward() {
  double earlier = 0.0;
  for (const Layer& layer : layers_) earlier += layer.largest;
  layers_.back().after = {0.0};
  for (size_t k = layers_.size() - 1; k-- > 1;) {
    Sweep step = sweep(layers_[k + 1], layers_[k], true, best_ + 3.0 * request_.rounding + earlier);
    layers_[k].after.assign(step.least.rbegin(), step.least.rend());
    earlier -= layers_[k].largest;
  }
}

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

double lower_bound_of(const Line& line, const BoundRequest& request) {
  return Program(line, request).run();
}

}  // namespace fewbit::solver
