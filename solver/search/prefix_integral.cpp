#include "search/prefix_integral.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fewbit::solver {

namespace {

constexpr size_t kNodes = 8;
// Abramowitz and Stegun, table 25.4, n = 8, mapped to [-1, 1].
constexpr std::array<double, kNodes> kAbscissae = {-0.96028985649753623168, -0.79666647741362673959,
                                                   -0.52553240991632898582, -0.18343464249564980494,
                                                   0.18343464249564980494,  0.52553240991632898582,
                                                   0.79666647741362673959,  0.96028985649753623168};
constexpr std::array<double, kNodes> kWeights = {
    0.10122853629037625915, 0.22238103445337447054, 0.31370664587788728734, 0.36268378337836198297,
    0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054, 0.10122853629037625915};

struct Nodes {
  std::array<double, kNodes> x;
  std::array<double, kNodes> value;
  std::array<double, kNodes> measure;  ///< rule weight times half width times w(x)
};

Nodes nodes_of(const Derivative& derivative, const Weight& weight, double a, double b,
               size_t piece) {
  Nodes nodes;
  const double center = 0.5 * (a + b);
  const double half = 0.5 * (b - a);
  for (size_t i = 0; i < kNodes; ++i) nodes.x[i] = center + half * kAbscissae[i];
  derivative.evaluate(nodes.x, piece, nodes.value);
  for (size_t i = 0; i < kNodes; ++i) {
    nodes.measure[i] = kWeights[i] * half * weight.density(nodes.x[i]);
  }
  return nodes;
}

Moments moments_of(const Nodes& nodes) {
  Moments sum;
  for (size_t i = 0; i < kNodes; ++i) {
    const double first = nodes.measure[i] * nodes.value[i];
    sum += {nodes.measure[i], first, first * nodes.value[i]};
  }
  return sum;
}

struct Panel {
  double lo;
  double hi;
  size_t piece;
  Moments moments;
};

/// Halves panels of one smooth stretch until halving no longer changes the integrals.
class PanelBuilder {
 public:
  PanelBuilder(const Derivative& derivative, const Weight& weight, double tolerance)
      : derivative_(derivative), weight_(weight), tolerance_(tolerance) {}

  void add(double lo, double hi, size_t piece) {
    split(lo, hi, piece, measure(lo, hi, piece), kMaxDepth);
  }

  std::vector<Panel> take() { return std::move(panels_); }

 private:
  static constexpr int kMaxDepth = 24;

  Moments measure(double lo, double hi, size_t piece) const {
    return moments_of(nodes_of(derivative_, weight_, lo, hi, piece));
  }

  void split(double lo, double hi, size_t piece, const Moments& whole, int depth) {
    const double middle = 0.5 * (lo + hi);
    const Moments left = measure(lo, middle, piece);
    const Moments right = measure(middle, hi, piece);
    const Moments change = left + right - whole;
    const bool settled = std::abs(change.mass) <= tolerance_ * mass_unit_ &&
                         std::abs(change.first) <= tolerance_ * value_unit_ &&
                         std::abs(change.second) <= tolerance_ * value_unit_ * value_unit_;
    if (settled || depth == 0) {
      panels_.push_back({lo, middle, piece, left});
      panels_.push_back({middle, hi, piece, right});
      return;
    }
    split(lo, middle, piece, left, depth - 1);
    split(middle, hi, piece, right, depth - 1);
  }

 public:
  void set_units(double mass_unit, double value_unit) {
    mass_unit_ = mass_unit;
    value_unit_ = value_unit;
  }

 private:
  const Derivative& derivative_;
  const Weight& weight_;
  double tolerance_;
  double mass_unit_ = 1.0;
  double value_unit_ = 1.0;
  std::vector<Panel> panels_;
};

/// Kinks, breaks of the weight, and a first even subdivision.
std::vector<double> first_borders(const Derivative& derivative, const Weight& weight) {
  constexpr int kFirstPanels = 32;
  const double lo = derivative.lo();
  const double hi = derivative.hi();
  std::vector<double> borders = derivative.borders();
  const std::vector<double> breaks = weight.breaks();
  for (const double x : breaks) {
    if (x > lo && x < hi) borders.push_back(x);
  }
  const double finest = breaks.empty() ? 2.0 * weight.scale() : hi - lo;
  const double step = std::min((hi - lo) / kFirstPanels, finest);
  const int count = static_cast<int>(std::min(std::ceil((hi - lo) / step), 4096.0));
  for (int i = 1; i < count; ++i) borders.push_back(lo + (hi - lo) * i / count);
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  return borders;
}

double value_unit(const Derivative& derivative) {
  return std::max(std::abs(derivative.min_value()), std::abs(derivative.max_value()));
}

}  // namespace

PrefixIntegral::PrefixIntegral(const Derivative& derivative, const Weight& weight)
    : derivative_(derivative), weight_(weight) {
  const std::vector<double> first = first_borders(derivative, weight);
  double peak = 0.0;
  for (size_t i = 0; i + 1 < first.size(); ++i) {
    const double middle = 0.5 * (first[i] + first[i + 1]);
    peak = std::max(peak, weight.density(middle) * (first[i + 1] - first[i]));
  }
  PanelBuilder builder(derivative, weight, 4e-16);
  builder.set_units(peak, peak * value_unit(derivative));
  for (size_t i = 0; i + 1 < first.size(); ++i) {
    builder.add(first[i], first[i + 1], derivative.piece_of(0.5 * (first[i] + first[i + 1])));
  }
  // Sums in long double, so that a prefix is right to the last bit or two of a double.
  long double mass = 0.0L;
  long double moment = 0.0L;
  long double square = 0.0L;
  borders_.push_back(derivative.lo());
  prefix_.push_back({});
  for (const Panel& panel : builder.take()) {
    mass += panel.moments.mass;
    moment += panel.moments.first;
    square += panel.moments.second;
    borders_.push_back(panel.hi);
    pieces_.push_back(panel.piece);
    prefix_.push_back(
        {static_cast<double>(mass), static_cast<double>(moment), static_cast<double>(square)});
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
    const Nodes nodes = nodes_of(derivative_, weight_, lo, hi, pieces_[panel]);
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
