#include "search/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "base/error.hpp"
#include "base/text.hpp"
#include "search/panel_error.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kNodes = PanelNodes::kCount;
// Abramowitz and Stegun, table 25.4, n = 8, mapped to [-1, 1].
constexpr std::array<double, kNodes> kAbscissae = {-0.96028985649753623168, -0.79666647741362673959,
                                                   -0.52553240991632898582, -0.18343464249564980494,
                                                   0.18343464249564980494,  0.52553240991632898582,
                                                   0.79666647741362673959,  0.96028985649753623168};
constexpr std::array<double, kNodes> kWeights = {
    0.10122853629037625915, 0.22238103445337447054, 0.31370664587788728734, 0.36268378337836198297,
    0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054, 0.10122853629037625915};

/// Largest difference of two values of f' where w has its mass.
double range_on(const Derivative& derivative, const Domain& support) {
  double smallest = INFINITY;
  double largest = -INFINITY;
  for (const Branch& branch : derivative.branches()) {
    const double lo = std::max(branch.lo, support.lo);
    const double hi = std::min(branch.hi, support.hi);
    if (lo > hi) continue;
    for (const double x : {lo, hi}) {
      const double value = derivative.value(x, branch.piece);
      smallest = std::min(smallest, value);
      largest = std::max(largest, value);
    }
  }
  const double range = std::max(0.0, largest - smallest) + derivative.pattern_error();
  // Where f' is one number no panel can be wrong about it, but the masses have to be right.
  const double most = derivative.max_value() - derivative.min_value();
  return std::max(range, 1e-16 * most);
}

class Mesh {
 public:
  Mesh(const Derivative& derivative, const Weight& weight)
      : derivative_(derivative),
        weight_(weight),
        plain_(weight.is_piecewise_constant()),
        range_(range_on(derivative, weight.support())),
        cuts_(cuts()) {
    for (const Stretch& stretch : derivative.stretches()) {
      if (plain_) {
        add(stretch.lo, stretch.hi, stretch.piece);
      } else {
        add_cut(stretch);
      }
    }
  }

  std::vector<Panel> run() {
    refine();
    std::vector<Panel> panels;
    for (; !cells_.empty(); cells_.pop()) panels.push_back(with_noise(cells_.top()));
    std::sort(panels.begin(), panels.end(),
              [](const Panel& a, const Panel& b) { return a.lo < b.lo; });
    return plain_ ? cut(panels) : panels;
  }

 private:
  static constexpr size_t kMostPanels = 200000;

  struct Cell {
    double urgency;  ///< bound of the error, per length where w does not matter
    double mass;
    Panel panel;
    bool operator<(const Cell& other) const { return urgency < other.urgency; }
  };

  /// Where w or a derivative of it jumps.
  std::vector<double> cuts() const {
    std::vector<double> cuts = weight_.breaks();
    const Domain support = weight_.support();
    if (plain_) cuts.insert(cuts.end(), {support.lo, support.hi});
    std::erase_if(cuts, [&](double x) { return !(x > derivative_.lo() && x < derivative_.hi()); });
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    return cuts;
  }

  void add_cut(const Stretch& stretch) {
    double lo = stretch.lo;
    for (auto cut = std::upper_bound(cuts_.begin(), cuts_.end(), lo);
         cut != cuts_.end() && *cut < stretch.hi; ++cut) {
      add(lo, *cut, stretch.piece);
      lo = *cut;
    }
    add(lo, stretch.hi, stretch.piece);
  }

  /// A weight that is constant between its breaks needs no panels of its own: per length, its
  /// factor does not matter.
  void add(double lo, double hi, size_t piece) {
    const double width = hi - lo;
    const TaylorBounds slope = derivative_.taylor(lo, hi, piece);
    std::array<double, kDensityOrder + 1> density{1.0};
    double mass = 0.0;
    if (!plain_) {
      density = density_bounds(weight_, lo, hi);
      mass = moments_of(panel_nodes(derivative_, weight_, lo, hi, piece), 0.0).mass;
    }
    const double error = panel_error(slope, range_, density, width);
    const bool constant =
        std::all_of(slope.begin() + 1, slope.end() - 1, [](double c) { return c == 0.0; });
    const double urgency = plain_ ? error / width : error;
    cells_.push({urgency, mass, {lo, hi, piece, error, 0.0, constant}});
    mass_ += mass;
  }

  void refine() {
    constexpr double kPerPanel = 1e-18;
    constexpr double kPerLength = 1e-16;
    while (cells_.size() < kMostPanels) {
      const Cell cell = cells_.top();
      const double accepted = (plain_ ? kPerLength : kPerPanel * mass_) * range_ * range_;
      const auto& [lo, hi, piece, e, n, c] = cell.panel;
      const double middle = lo + 0.5 * (hi - lo);
      if (cell.urgency <= accepted || middle <= lo || middle >= hi) return;
      cells_.pop();
      mass_ -= cell.mass;
      add(lo, middle, piece);
      add(middle, hi, piece);
    }
  }

  /// A computed f' is off by the width of its enclosure at a point, and by what rounding x does; so
  /// is w, by the latter.
  Panel with_noise(const Cell& cell) const {
    Panel panel = cell.panel;
    if (!plain_) {
      const double moved =
          std::numeric_limits<double>::epsilon() * std::max(std::abs(panel.lo), std::abs(panel.hi));
      const auto density = density_bounds(weight_, panel.lo, panel.hi);
      const double change = std::min(density[0], density[1] * moved);
      panel.error += range_ * range_ * (panel.hi - panel.lo) * change;
    }
    if (panel.constant) return panel;
    const double half = 0.5 * (panel.hi - panel.lo);
    for (const size_t node : {size_t{0}, kNodes / 2, kNodes - 1}) {
      const double x = panel.lo + half * (1.0 + kAbscissae[node]);
      const Interval value = derivative_.bounds(x, x, panel.piece);
      const double moved = std::abs(derivative_.slope(x, panel.piece)) *
                           std::numeric_limits<double>::epsilon() * std::abs(x);
      panel.noise = std::max(panel.noise, value.upper() - value.lower() + moved);
    }
    return panel;
  }

  std::vector<Panel> cut(const std::vector<Panel>& panels) const {
    std::vector<Panel> parts;
    auto cut = cuts_.begin();
    for (Panel panel : panels) {
      const double per_length = panel.error / (panel.hi - panel.lo);
      const double end = panel.hi;
      while (cut != cuts_.end() && *cut <= panel.lo) ++cut;
      for (;; ++cut) {
        panel.hi = cut != cuts_.end() && *cut < end ? *cut : end;
        const double width = panel.hi - panel.lo;
        panel.error = per_length * width * weight_.density(panel.lo + 0.5 * width);
        parts.push_back(panel);
        if (panel.hi == end) break;
        panel.lo = panel.hi;
      }
    }
    return parts;
  }

  const Derivative& derivative_;
  const Weight& weight_;
  bool plain_;
  double range_;
  std::vector<double> cuts_;
  double mass_ = 0.0;
  std::priority_queue<Cell> cells_;
};

template <class Density>
PanelNodes nodes_with(const Derivative& derivative, double a, double b, size_t piece,
                      const Density& density) {
  PanelNodes nodes;
  std::array<double, kNodes> x;
  const double center = 0.5 * (a + b);
  const double half = 0.5 * (b - a);
  for (size_t i = 0; i < kNodes; ++i) x[i] = center + half * kAbscissae[i];
  derivative.evaluate(x, piece, nodes.value);
  for (size_t i = 0; i < kNodes; ++i) nodes.measure[i] = kWeights[i] * half * density(x[i]);
  return nodes;
}

}  // namespace

PanelNodes panel_nodes(const Derivative& derivative, const Weight& weight, double a, double b,
                       size_t piece) {
  // One look at a weight that does not change within a panel.
  if (weight.is_piecewise_constant()) {
    const double constant = weight.density(0.5 * (a + b));
    return nodes_with(derivative, a, b, piece, [constant](double) { return constant; });
  }
  return nodes_with(derivative, a, b, piece, [&weight](double x) { return weight.density(x); });
}

Moments moments_of(const PanelNodes& nodes, double center) {
  Moments sum;
  for (size_t i = 0; i < kNodes; ++i) {
    const double value = nodes.value[i] - center;
    const double first = nodes.measure[i] * value;
    sum += {nodes.measure[i], first, first * value};
  }
  return sum;
}

std::vector<Panel> lay_panels(const Derivative& derivative, const Weight& weight) {
  return Mesh(derivative, weight).run();
}

}  // namespace fewbit::solver
