#pragma once

#include "verify/line.hpp"

namespace fewbit::solver {

enum class PartCost {
  spread,  ///< min over y of the integral of (v - y)^2: one level per part
  coding,  ///< the integral of (v - a)(b - v): values between the levels a and b, at random
};

/// What the part between two points costs; grows with inclusion.
struct PartCosts {
  PartCost kind;
  double center;  ///< of the points' moments

  double operator()(const LinePoint& a, const LinePoint& b) const {
    const AxisMoments part = b.before - a.before;
    if (kind == PartCost::spread) {
      if (!(part.mass > 0.0)) return 0.0;
      return std::max(0.0, part.second - part.first * part.first / part.mass);
    }
    const double from = a.at - center;
    const double to = b.at - center;
    return std::max(0.0, (from + to) * part.first - part.second - from * to * part.mass);
  }
};

}  // namespace fewbit::solver
