#pragma once

#include <array>
#include <cstddef>

namespace fewbit::solver {

/// Gauss-Legendre rule on [-1, 1], exact for polynomials up to degree 2 * kNodes - 1.
struct GaussNodes {
  static constexpr size_t kNodes = 12;
  std::array<double, kNodes> nodes;
  std::array<double, kNodes> weights;
};

const GaussNodes& gauss_rule();

}  // namespace fewbit::solver
