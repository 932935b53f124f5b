#include "verify/gauss.hpp"

#include <cmath>
#include <numbers>

namespace fewbit::solver {

namespace {

GaussNodes make_rule() {
  constexpr double n = GaussNodes::kNodes;
  GaussNodes rule{};
  for (size_t i = 0; i < GaussNodes::kNodes; ++i) {
    // Newton on the Legendre polynomial, started at Tricomi's estimate of its root.
    double x = -std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
    double slope = 1.0;
    for (int step = 0; step < 8; ++step) {
      double before = 1.0;
      double value = x;
      for (double k = 2.0; k <= n; ++k) {
        const double next = ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k;
        before = value;
        value = next;
      }
      slope = n * (x * value - before) / (x * x - 1.0);
      x -= value / slope;
    }
    rule.nodes[i] = x;
    rule.weights[i] = 2.0 / ((1.0 - x * x) * slope * slope);
  }
  return rule;
}

}  // namespace

const GaussNodes& gauss_rule() {
  static const GaussNodes rule = make_rule();
  return rule;
}

}  // namespace fewbit::solver
