#include "search/mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "search/panel_error.hpp"

namespace fewbit::solver {

namespace {

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
        whole_range_(whole_range()),
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
    std::vector<Panel> panels = taken();
    if (!plain_) spread_ = spread_of(panels);
    if (is_far()) {
      refine_far(panels);
      panels = taken();
    } else if (!plain_) {
      for (Panel& panel : panels) panel.error = panel.coding = whole_error_of(panel);
    }
    for (Panel& panel : panels) panel = with_noise(panel);
    std::sort(panels.begin(), panels.end(),
              [](const Panel& a, const Panel& b) { return a.lo < b.lo; });
    return plain_ ? cut(panels) : panels;
  }

 private:
  static constexpr size_t kMostPanels = 200000;
  static constexpr size_t kMostFarPanels = 20000;

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
    cells_.push({urgency, mass, {lo, hi, piece, error, 0.0, error, 0.0, constant}});
    mass_ += mass;
  }

  /// A weight that is constant between its breaks is nothing elsewhere.
  double whole_range() const {
    const double range = derivative_.max_value() - derivative_.min_value();
    return plain_ ? range_ : std::max(range_, range + derivative_.pattern_error());
  }

  std::vector<Panel> taken() {
    std::vector<Panel> panels;
    for (; !cells_.empty(); cells_.pop()) panels.push_back(cells_.top().panel);
    return panels;
  }

  double whole_error_of(const Panel& panel) const {
    const TaylorBounds slope = derivative_.taylor(panel.lo, panel.hi, panel.piece);
    const auto density = density_bounds(weight_, panel.lo, panel.hi);
    return panel_error(slope, whole_range_, density, panel.hi - panel.lo) +
           whole_range_ * whole_range_ * displacement_of(panel, density);
  }

  /// The integral of w times the squared distance of f' from its mean.
  double spread_of(const std::vector<Panel>& panels) const {
    double center = 0.0;
    Moments moments;
    for (int round = 0; round < 2; ++round) {
      moments = {};
      for (const Panel& panel : panels) {
        moments +=
            moments_of(panel_nodes(derivative_, weight_, panel.lo, panel.hi, panel.piece), center);
      }
      if (moments.mass > 0.0) center += moments.first / moments.mass;
    }
    return moments.second;
  }

  bool is_far() const {
    constexpr double kMost = 1e4;
    return !plain_ && whole_range_ * whole_range_ * mass_ > kMost * spread_;
  }

  void refine_far(const std::vector<Panel>& panels) {
    constexpr double kPerPanel = 1e-18;
    const double least = 1e-280 * whole_range_ * whole_range_ * mass_;
    spread_ = std::max(spread_, least);
    accepted_ = kPerPanel * spread_;
    for (const Panel& panel : panels) add_far(panel.lo, panel.hi, panel.piece);
    while (cells_.size() < kMostFarPanels) {
      const Panel panel = cells_.top().panel;
      const double middle = panel.lo + 0.5 * (panel.hi - panel.lo);
      if (cells_.top().urgency <= 1.0 || middle <= panel.lo || middle >= panel.hi) return;
      cells_.pop();
      add_far(panel.lo, middle, panel.piece);
      add_far(middle, panel.hi, panel.piece);
    }
  }

  /// Charges a panel for all of f''s range, or for its own part of it (see mesh.hpp) where that
  /// comes cheaper.
  void add_far(double lo, double hi, size_t piece) {
    constexpr double kAcceptedShare = 1e-15;
    constexpr double kLargestShare = 1e-9;
    const double width = hi - lo;
    TaylorBounds slope = derivative_.taylor(lo, hi, piece);
    // Those come from a disc as large as f' allows, whose swing may be far above the panel's.
    const Interval second = derivative_.slope_bounds(lo, hi, piece);
    slope[1] = std::min(slope[1], std::max(-second.lower(), second.upper()));
    const auto density = density_bounds(weight_, lo, hi);
    const double mass = moments_of(panel_nodes(derivative_, weight_, lo, hi, piece), 0.0).mass;
    Panel panel{lo, hi, piece, 0.0, 0.0, 0.0, 0.0, slope[1] == 0.0};
    const double whole = panel_error(slope, whole_range_, density, width);
    const double moved = displacement_of(panel, density);
    panel.error = panel.coding = whole + whole_range_ * whole_range_ * moved;
    double urgency = whole / accepted_;
    const double swing = panel.constant ? 1.0 : std::max(slope[1] * width, 1e-100 * whole_range_);
    const double near = panel_error(slope, 4.0 * swing, density, width);
    const double local = panel.constant ? 0.0 : near + 16.0 * swing * swing * moved;
    const double share = near / (4.0 * swing * swing * mass);
    const double relative = (1.0 + kLargestShare) * (share + 4.0 * moved / mass);
    if (share < kLargestShare && local + relative * spread_ < panel.error) {
      panel.error = local;
      panel.relative = relative;
      panel.coding = panel.constant ? 0.0 : 0.25 * whole_range_ / swing * local;
      urgency = std::max(panel.constant ? 0.0 : near / accepted_, share / kAcceptedShare);
    }
    cells_.push({urgency, mass, panel});
  }

  void refine() {
    constexpr double kPerPanel = 1e-18;
    constexpr double kPerLength = 1e-16;
    while (cells_.size() < kMostPanels) {
      const Cell cell = cells_.top();
      const double accepted = (plain_ ? kPerLength : kPerPanel * mass_) * range_ * range_;
      const double middle = cell.panel.lo + 0.5 * (cell.panel.hi - cell.panel.lo);
      if (cell.urgency <= accepted || middle <= cell.panel.lo || middle >= cell.panel.hi) return;
      cells_.pop();
      mass_ -= cell.mass;
      add(cell.panel.lo, middle, cell.panel.piece);
      add(middle, cell.panel.hi, cell.panel.piece);
    }
  }

  /// A computed f' is off by the width of its enclosure at a point, and by what rounding x does.
  Panel with_noise(Panel panel) const {
    if (panel.constant) return panel;
    const double half = 0.5 * (panel.hi - panel.lo);
    constexpr size_t kLast = PanelNodes::kCount - 1;
    for (const size_t node : {size_t{0}, kLast / 2 + 1, kLast}) {
      const double x = panel.lo + half * (1.0 + PanelNodes::kAbscissae[node]);
      const Interval value = derivative_.bounds(x, x, panel.piece);
      const double moved = std::abs(derivative_.slope(x, panel.piece)) *
                           std::numeric_limits<double>::epsilon() * std::abs(x);
      panel.noise = std::max(panel.noise, value.upper() - value.lower() + moved);
    }
    return panel;
  }

  /// Mass that rounding of x moves. Of a density that rises and falls once, a shift moves at most
  /// twice its height times the shift from one place to another; of a folded one twice that.
  double displacement_of(const Panel& panel,
                         const std::array<double, kDensityOrder + 1>& density) const {
    const double moved =
        std::numeric_limits<double>::epsilon() * std::max(std::abs(panel.lo), std::abs(panel.hi));
    // Cauchy's estimate on a circle as wide as w changes, whatever the width of the panel.
    const double radius = weight_.scale();
    const double slope =
        std::min(density[1], weight_.largest_within(panel.lo, panel.hi, radius) / radius);
    const double width = panel.hi - panel.lo;
    return std::min(width * std::min(density[0], slope * moved), 4.0 * moved * density[0]);
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
        panel.error = per_length * width * weight_.density_between(panel.lo, panel.hi);
        panel.coding = panel.error;
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
  double whole_range_;   ///< where w is next to nothing, too
  double spread_ = 0.0;  ///< of f' under w
  double accepted_ = 0.0;
  std::vector<double> cuts_;
  double mass_ = 0.0;
  std::priority_queue<Cell> cells_;
};

}  // namespace

std::vector<Panel> lay_panels(const Derivative& derivative, const Weight& weight) {
  return Mesh(derivative, weight).run();
}

}  // namespace fewbit::solver
