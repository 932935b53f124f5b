#pragma once

#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {

struct Point {
  double x;
  double y;
};

/// One stretch of the step function: `level` on (lo, hi].
struct Step {
  double lo;
  double hi;
  int code;
  double level;
};

/// The step function over the whole axis, Symmetry::even unfolded; empty for Form::unbiased.
std::vector<Step> steps_of(const Table& table);

/// What a picture of a table needs: the part of the domain where f' or the table does something, f'
/// there (one run of points per smooth piece), the steps clipped to it, and the density of the
/// inputs, its largest value there being 1.
struct Curve {
  double lo;
  double hi;
  double y_min;
  double y_max;
  std::vector<std::vector<Point>> pieces;
  std::vector<Step> steps;
  std::vector<Point> density;
};

/// Samples f' at about `points` places. Throws what Derivative throws.
Curve sample_curve(const Table& table, size_t points);

}  // namespace fewbit::solver
