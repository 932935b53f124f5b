#pragma once

#include <vector>

namespace fewbit::solver {

/// A point that stands for some mass.
struct MassPoint {
  double position;
  double mass;
};

/// Few points for a piecewise constant density (`masses[i]` spread evenly over
/// [edges[i], edges[i+1]]): on each stretch of length `scale` the Gauss rule of the density itself,
/// exact for polynomials of degree 15. All masses positive, their sum that of `masses`.
std::vector<MassPoint> gauss_points(const std::vector<double>& edges,
                                    const std::vector<double>& masses, double scale);

}  // namespace fewbit::solver
