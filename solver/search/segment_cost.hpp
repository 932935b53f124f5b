#pragma once

#include <algorithm>

#include "search/axis.hpp"

namespace fewbit::solver {

/// What is known of any optimal table with a cut in a given cell.
struct CellBounds {
  double swing;   ///< of f' over the cell
  bool monotone;  ///< f' does not turn within the cell
  double mass;    ///< of the cell
  double reach;   ///< how far apart the levels on both sides of the cut can be
};

/// One level per segment, the weighted mean: `intervals` on the x axis, `levels` on the value axis.
/// A table of k levels has k segments.
struct VarianceCost {
  static constexpr bool kLevelsAreMeans = true;

  static double cost(const Border& a, const Border& b) {
    const double mass = b.prefix.mass - a.prefix.mass;
    const double first = b.prefix.first - a.prefix.first;
    const double second = b.prefix.second - a.prefix.second;
    return mass > 0.0 ? std::max(0.0, second - first * first / mass) : 0.0;
  }

  /// Most that moving the cut of an optimal table to one end of its cell can cost. Moving it over a
  /// set of mass m on which f' swings by s costs at most 2 |y_right - y_left| s m, since f' equals
  /// the mean of the two levels at the cut. The two directions share the cell's mass, and where f'
  /// is monotone its swing too: min(s1 m1, s2 m2) <= (s1 + s2) (m1 + m2) / 4. Segments that lie
  /// inside the cell are rounded out to it, at swing^2 mass / 4.
  static double correction(const CellBounds& cell) {
    return (cell.monotone ? 0.5 : 1.0) * cell.reach * cell.swing * cell.mass;
  }
};

/// Levels at the ends of the segments, each value rounded at random to one of its two neighbours:
/// `unbiased` on the value axis. A table of k levels has k - 1 segments.
struct RoundingCost {
  static constexpr bool kLevelsAreMeans = false;

  static double cost(const Border& a, const Border& b) {
    const double mass = b.prefix.mass - a.prefix.mass;
    const double first = b.prefix.first - a.prefix.first;
    const double second = b.prefix.second - a.prefix.second;
    const double value = (a.value + b.value) * first - a.value * b.value * mass - second;
    return std::max(0.0, value);
  }

  /// By Taylor's formula around a stationary point. The Hessian's off-diagonal is minus the mass
  /// between two levels: when all levels move in one direction it only helps. Its diagonal is the
  /// gap times the density: moving by h over a mass m costs at most gap h m. The better of the two
  /// directions costs at most half of both together.
  static double correction(const CellBounds& cell) {
    return 0.5 * cell.reach * cell.swing * cell.mass;
  }
};

}  // namespace fewbit::solver
