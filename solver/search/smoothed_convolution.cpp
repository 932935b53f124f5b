#include "search/smoothed_convolution.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "expression/stretches.hpp"
#include "search/smoothed_panels.hpp"

namespace fewbit::solver {
namespace {

constexpr double kWidestPanel = 2.5;   // in spreads
constexpr double kFloor = 3e-16;       // of the size of f' where the nodes are
constexpr double kLeastFloor = 1e-20;  // of the size of f'

struct Samples {
  std::vector<double> x;         ///< ascending
  std::vector<double> integral;  ///< g(f'(x)) times the rule's weight
};

// Values on all panels that [reach.lo, reach.hi] touches, cut to the spread's width.
Samples sample(const Derivative& derivative, const std::vector<Stretch>& stretches,
               const Domain& reach, double spread, const ValueMap& map) {
  Samples samples;
  for (const Stretch& stretch : stretches) {
    const double lo = std::max(stretch.lo, reach.lo);
    const double hi = std::min(stretch.hi, reach.hi);
    if (lo >= hi) continue;
    const int count = static_cast<int>(std::ceil((hi - lo) / (kWidestPanel * spread)));
    for (int part = 0; part < count; ++part) {
      const double left = lo + (hi - lo) * part / count;
      const double right = part + 1 == count ? hi : lo + (hi - lo) * (part + 1) / count;
      const PanelValues x = panel_points(left, right);
      PanelValues values;
      derivative.evaluate(x, stretch.piece, values);
      if (map) map(values);
      for (size_t i = 0; i < kPanelPoints; ++i) {
        samples.x.push_back(x[i]);
        samples.integral.push_back(0.5 * (right - left) * panel_rule().weights[i] * values[i]);
      }
    }
  }
  return samples;
}

double weigh(const Samples& samples, const SmoothingNode& node) {
  const Domain reach = smoothing_reach({node});
  const auto first = std::lower_bound(samples.x.begin(), samples.x.end(), reach.lo);
  double sum = 0.0;
  for (auto i = static_cast<size_t>(first - samples.x.begin()); i < samples.x.size(); ++i) {
    if (samples.x[i] > reach.hi) break;
    const double z = (samples.x[i] - node.mean) / node.spread;
    sum += samples.integral[i] * std::exp(-0.5 * z * z);
  }
  return sum / (node.spread * std::sqrt(2.0 * std::numbers::pi));
}

}  // namespace

std::vector<Stretch> convolution_stretches(const Derivative& derivative,
                                           const std::vector<SmoothingNode>& nodes) {
  double square = 0.0;
  for (const SmoothingNode& node : nodes) {
    const double value = derivative.value(node.mean);
    square += node.mass * value * value;
  }
  const double most = std::max(std::abs(derivative.min_value()), std::abs(derivative.max_value()));
  return resolve(derivative, std::max(kFloor * std::sqrt(square), kLeastFloor * most));
}

std::vector<double> convolve(const Derivative& derivative, const std::vector<Stretch>& stretches,
                             const std::vector<SmoothingNode>& nodes, const ValueMap& map) {
  std::vector<double> result;
  result.reserve(nodes.size());
  for (size_t begin = 0; begin < nodes.size();) {
    size_t end = begin + 1;
    while (end < nodes.size() && nodes[end].spread == nodes[begin].spread) ++end;
    const std::vector<SmoothingNode> group(nodes.begin() + static_cast<std::ptrdiff_t>(begin),
                                           nodes.begin() + static_cast<std::ptrdiff_t>(end));
    const Samples samples =
        sample(derivative, stretches, smoothing_reach(group), group.front().spread, map);
    for (const SmoothingNode& node : group) result.push_back(weigh(samples, node));
    begin = end;
  }
  return result;
}

}  // namespace fewbit::solver
