#include "search/prefix_integral.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

template <class Density>
PanelNodes nodes_of(const Derivative& derivative, double a, double b, size_t piece,
                    const Density& density) {
  PanelNodes nodes;
  std::array<double, kNodes> x;
  const double center = 0.5 * (a + b);
  const double half = 0.5 * (b - a);
  for (size_t i = 0; i < kNodes; ++i) x[i] = center + half * kAbscissae[i];
  derivative.evaluate(x, piece, nodes.value);
  for (size_t i = 0; i < kNodes; ++i) {
    nodes.measure[i] = kWeights[i] * half * density(x[i]);
  }
  return nodes;
}

PanelNodes nodes_of(const Derivative& derivative, const Weight& weight, double a, double b,
                    size_t piece) {
  // One look at a weight that does not change within a panel.
  if (weight.is_piecewise_constant()) {
    const double constant = weight.density(0.5 * (a + b));
    return nodes_of(derivative, a, b, piece, [constant](double) { return constant; });
  }
  return nodes_of(derivative, a, b, piece, [&weight](double x) { return weight.density(x); });
}

Moments moments_of(const PanelNodes& nodes) {
  Moments sum;
  for (size_t i = 0; i < kNodes; ++i) {
    const double first = nodes.measure[i] * nodes.value[i];
    sum += {nodes.measure[i], first, first * nodes.value[i]};
  }
  return sum;
}

/// Halves stretches until halving no longer changes the integrals. Where the weight is constant
/// between its breaks, it needs no panels of its own: then only f' is looked at.
class Mesh {
 public:
  Mesh(const Derivative& derivative, const Weight& weight)
      : derivative_(derivative), weight_(weight), plain_(weight.is_piecewise_constant()) {
    const double largest =
        std::max(std::abs(derivative.min_value()), std::abs(derivative.max_value()));
    std::vector<double> first = derivative.borders();
    add_even_points(first);
    for (size_t i = 0; i + 1 < first.size(); ++i) {
      const double width = first[i + 1] - first[i];
      const double density = plain_ ? 1.0 : weight.density(0.5 * (first[i] + first[i + 1]));
      unit_.mass = std::max(unit_.mass, density * width);
    }
    unit_.first = unit_.mass * largest;
    unit_.second = unit_.first * largest;
    borders_.push_back(first.front());
    for (size_t i = 0; i + 1 < first.size(); ++i) add(first[i], first[i + 1]);
  }

  /// All borders, the weight's breaks among them.
  std::vector<double> take() {
    for (const double x : weight_.breaks()) {
      if (x > derivative_.lo() && x < derivative_.hi()) borders_.push_back(x);
    }
    sort_distinct(borders_);
    return std::move(borders_);
  }

 private:
  static constexpr int kMaxDepth = 24;
  static constexpr double kTolerance = 4e-16;

  static void sort_distinct(std::vector<double>& points) {
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
  }

  void add_even_points(std::vector<double>& points) const {
    const double length = derivative_.hi() - derivative_.lo();
    const double step = std::min(length / 32, plain_ ? length : 2.0 * weight_.scale());
    const int count = static_cast<int>(std::min(std::ceil(length / step), 4096.0));
    for (int i = 1; i < count; ++i) points.push_back(derivative_.lo() + length * i / count);
    sort_distinct(points);
  }

  void add(double lo, double hi) {
    const size_t piece = derivative_.piece_of(0.5 * (lo + hi));
    split(lo, hi, piece, measure(lo, hi, piece), kMaxDepth);
  }

  Moments measure(double lo, double hi, size_t piece) const {
    const PanelNodes nodes = plain_
                                 ? nodes_of(derivative_, lo, hi, piece, [](double) { return 1.0; })
                                 : nodes_of(derivative_, weight_, lo, hi, piece);
    return moments_of(nodes);
  }

  void split(double lo, double hi, size_t piece, const Moments& whole, int depth) {
    const double middle = 0.5 * (lo + hi);
    const Moments left = measure(lo, middle, piece);
    const Moments right = measure(middle, hi, piece);
    const Moments change = left + right - whole;
    const bool settled = std::abs(change.mass) <= kTolerance * unit_.mass &&
                         std::abs(change.first) <= kTolerance * unit_.first &&
                         std::abs(change.second) <= kTolerance * unit_.second;
    if (settled || depth == 0) {
      borders_.push_back(middle);
      borders_.push_back(hi);
      return;
    }
    split(lo, middle, piece, left, depth - 1);
    split(middle, hi, piece, right, depth - 1);
  }

  const Derivative& derivative_;
  const Weight& weight_;
  bool plain_;
  Moments unit_;  ///< what rounding is measured against
  std::vector<double> borders_;
};

}  // namespace

PrefixIntegral::PrefixIntegral(const Derivative& derivative, const Weight& weight)
    : derivative_(derivative), weight_(weight), borders_(Mesh(derivative, weight).take()) {
  // Sums in long double, so that a prefix is right to the last bit or two of a double.
  long double mass = 0.0L;
  long double first = 0.0L;
  long double second = 0.0L;
  prefix_.push_back({});
  for (size_t i = 0; i + 1 < borders_.size(); ++i) {
    pieces_.push_back(derivative.piece_of(0.5 * (borders_[i] + borders_[i + 1])));
    nodes_.push_back(nodes_of(derivative, weight, borders_[i], borders_[i + 1], pieces_[i]));
    const Moments panel = moments_of(nodes_.back());
    mass += panel.mass;
    first += panel.first;
    second += panel.second;
    prefix_.push_back(
        {static_cast<double>(mass), static_cast<double>(first), static_cast<double>(second)});
  }
}

size_t PrefixIntegral::panel_of(double x) const {
  const auto after = std::upper_bound(borders_.begin(), borders_.end(), x);
  const auto index = static_cast<size_t>(after - borders_.begin());
  return std::clamp<size_t>(index, 1, pieces_.size()) - 1;
}

Moments PrefixIntegral::at(double x) const {
  const size_t panel = panel_of(x);
  if (x <= borders_[panel]) return prefix_[panel];
  if (x >= borders_[panel + 1]) return prefix_[panel + 1];
  return prefix_[panel] +
         moments_of(nodes_of(derivative_, weight_, borders_[panel], x, pieces_[panel]));
}

template <class Integrand>
double PrefixIntegral::integrate(double a, double b, const Integrand& integrand) const {
  double sum = 0.0;
  for (size_t panel = panel_of(a); panel < pieces_.size() && borders_[panel] < b; ++panel) {
    const double lo = std::max(a, borders_[panel]);
    const double hi = std::min(b, borders_[panel + 1]);
    if (hi <= lo) continue;
    const bool whole = lo == borders_[panel] && hi == borders_[panel + 1];
    const PanelNodes nodes =
        whole ? nodes_[panel] : nodes_of(derivative_, weight_, lo, hi, pieces_[panel]);
    for (size_t i = 0; i < kNodes; ++i) sum += nodes.measure[i] * integrand(nodes.value[i]);
  }
  return sum;
}

double PrefixIntegral::squared_error(double a, double b, double level) const {
  return integrate(a, b, [level](double v) { return (v - level) * (v - level); });
}

double PrefixIntegral::rounding_variance(double a, double b, double lower, double upper) const {
  return integrate(a, b, [lower, upper](double v) { return (v - lower) * (upper - v); });
}

}  // namespace fewbit::solver
