#include "search/panel_nodes.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kNodes = PanelNodes::kCount;
constexpr std::array<double, kNodes> kWeights = {
    0.10122853629037625915, 0.22238103445337447054, 0.31370664587788728734, 0.36268378337836198297,
    0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054, 0.10122853629037625915};

template <class Density>
PanelNodes nodes_with(const Derivative& derivative, double a, double b, size_t piece,
                      const Density& density) {
  PanelNodes nodes;
  std::array<double, kNodes> x;
  const double center = 0.5 * (a + b);
  const double half = 0.5 * (b - a);
  for (size_t i = 0; i < kNodes; ++i) x[i] = center + half * PanelNodes::kAbscissae[i];
  derivative.evaluate(x, piece, nodes.value);
  for (size_t i = 0; i < kNodes; ++i) nodes.measure[i] = kWeights[i] * half * density(x[i]);
  return nodes;
}

}  // namespace

// Abramowitz and Stegun, table 25.4, n = 8, mapped to [-1, 1].
const std::array<double, kNodes> PanelNodes::kAbscissae = {
    -0.96028985649753623168, -0.79666647741362673959, -0.52553240991632898582,
    -0.18343464249564980494, 0.18343464249564980494,  0.52553240991632898582,
    0.79666647741362673959,  0.96028985649753623168};

PanelNodes panel_nodes(const Derivative& derivative, const Weight& weight, double a, double b,
                       size_t piece) {
  // One look at a weight that does not change within a panel.
  if (weight.is_piecewise_constant()) {
    const double constant = weight.density_between(a, b);
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

}  // namespace fewbit::solver
