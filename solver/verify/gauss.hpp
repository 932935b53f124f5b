#pragma once

#include <array>
#include <cstddef>

namespace fewbit::solver {
inline namespace verification {

/// Gauss-Legendre rule on [-1, 1], exact for polynomials up to degree 2 * kNodes - 1.
struct GaussRule {
  static constexpr size_t kNodes = 12;
  std::array<double, kNodes> nodes;
  std::array<double, kNodes> weights;
};

const GaussRule& gauss_rule();

}  // namespace verification
}  // namespace fewbit::solver
